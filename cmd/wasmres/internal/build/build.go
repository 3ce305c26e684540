package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/preinit"
)

// Command returns the command build.
func Command() *cli.Command {
	const category = "Building"
	return &cli.Command{
		Name: "build", Usage: "compile a project to a provider", ArgsUsage: "[FOLDER]",
		Description: `Compiles the project in the folder, or in this one. Asks the provider for its manifest and packs
it into the module. Removes debug information, loads the module under the limits, and reads a
sample. NAME.debug.wasm is the same provider with the names of its functions.

The exit status is 3 if a compiler is missing.

   wasmres build
   wasmres build --sample notes://42 -o dist/notes.wasm notes`,
		Flags: providers.Flags(
			cli.FormatFlag(cli.ReportFormats),
			&cli.StringFlag{
				Name: "output", Aliases: []string{"o"}, Category: cli.CategoryOutput,
				Usage: "write the module to `FILE` (default: NAME.wasm in the project's folder)",
			},
			cli.Choice(&cli.StringFlag{Name: "lang", Category: category, Usage: "compile the project as one in this " + LanguageUsage}, Languages()...),
			&cli.StringFlag{Name: "sample", Category: category, Usage: "read this `URI`"},
			&cli.BoolFlag{Name: "verbose", Category: category, Usage: "print the commands that run, and their output"},
		),
		OnUsageError: cli.OnUsageError,
		Action:       build,
	}
}

func build(c *cli.Context) error {
	dir, lang, err := Project(c)
	if err != nil {
		return err
	}
	format, err := cli.OutputFormat(c)
	if err != nil {
		return err
	}
	if uri := c.String("sample"); uri != "" {
		if err := abi.CheckURI(uri); err != nil {
			return cli.Usagef(c, "--sample: %w", err)
		}
	}
	cfg, err := providers.Config(c, "", cli.PlainLog)
	if err != nil {
		return err
	}
	module, err := compile(c, cfg, dir, lang)
	if err != nil {
		return err
	}
	report := &buildReport{
		File: c.String("output"), Language: string(lang), Compiler: module.Compiler, lang: lang,
	}
	if report.File == "" {
		report.File = filepath.Join(dir, module.Name+".wasm")
	}
	report.Debug = runtime.DebugFile(report.File)
	cfg.ExposeErrors = true
	cfg.Denied = report.denied.Add // reported only if reading the sample fails
	if err := report.finish(c, cfg, module); err != nil {
		return err
	}
	return report.print(c.App.Writer, format)
}

// Project returns the project that the command line names, or that of the working directory, and its language.
func Project(c *cli.Context) (dir string, lang project.Language, err error) {
	if c.NArg() > 1 {
		return "", "", cli.Usagef(c, "one argument too many: %q", c.Args().Get(1))
	}
	if dir = c.Args().First(); dir == "" {
		dir = "."
	}
	if !c.IsSet("lang") {
		lang, err = project.Detect(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", "", fmt.Errorf("%s: there is no folder %s: name the folder of a project, or make one with 'wasmres new'", c.Command.Name, dir)
		case err != nil:
			return "", "", fmt.Errorf("%s: %w", c.Command.Name, err)
		}
		return dir, lang, nil
	}
	if lang, err = project.ParseLanguage(c.String("lang")); err != nil {
		return "", "", cli.Usagef(c, "--lang: %w", err)
	}
	return dir, lang, nil
}

// compile compiles a project. If a compiler fails, it prints the compiler's output.
func compile(c *cli.Context, cfg app.Config, dir string, lang project.Language) (*project.Module, error) {
	var log io.Writer
	if c.Bool("verbose") {
		log = c.App.ErrWriter
	}
	module, err := project.Build(c.Context, dir, lang, project.Options{Log: log, Cache: preinit.Cache{Dir: cfg.CacheDir, MaxBytes: cfg.CacheSize}})
	var failed *project.Failed
	var missing *project.Missing
	switch {
	case errors.As(err, &failed):
		fmt.Fprint(c.App.ErrWriter, failed.Output)
		return nil, fmt.Errorf("build: %w, see above", err)
	case errors.As(err, &missing):
		return nil, cli.MissingTool(err)
	case err != nil:
		return nil, fmt.Errorf("build: %w", err)
	}
	return module, nil
}

// finish packs the manifest into a compiled module, and writes the module and its debug file once it has loaded.
func (r *buildReport) finish(c *cli.Context, cfg app.Config, module *project.Module) error {
	scratch, err := os.MkdirTemp("", "wasmres-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	cfg.File = filepath.Join(scratch, filepath.Base(r.File))

	manifest, err := describe(c.Context, cfg, module.Binary)
	if err != nil {
		return r.refused(cfg, err)
	}
	for i := range manifest.Templates {
		if err := check.CheckScheme(manifest.Templates[i].URITemplate); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	packed, debug, err := project.Pack(module.Binary, manifest)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if err := os.WriteFile(runtime.DebugFile(cfg.File), debug, 0o600); err != nil {
		return err
	}
	log := newBufferedLog(cfg.Logger.Handler())
	cfg.Logger = slog.New(log)
	a, err := openBinary(c.Context, cfg, packed)
	if err != nil {
		log.release(c.Context, err)
		return r.refused(cfg, err)
	}
	defer a.Close()
	r.DebugSize = len(debug)
	r.fill(c, a, log)
	if err := replaceFile(r.Debug, debug); err != nil {
		return err
	}
	return replaceFile(r.File, packed)
}

// describe loads a module and gives its manifest. It logs nothing unless loading fails. The module that build loads afterwards, with
// the manifest packed in, has the same native code, and finds that in the cache.
func describe(ctx context.Context, cfg app.Config, binary []byte) (*abi.Manifest, error) {
	log := newBufferedLog(cfg.Logger.Handler())
	cfg.Logger = slog.New(log)
	a, err := openBinary(ctx, cfg, binary)
	if err != nil {
		log.release(ctx, err)
		return nil, err
	}
	return a.Provider().Manifest(), a.Close()
}

func openBinary(ctx context.Context, cfg app.Config, binary []byte) (*app.App, error) {
	if err := os.WriteFile(cfg.File, binary, 0o600); err != nil {
		return nil, err
	}
	return app.Open(ctx, cfg)
}

// refused returns the error for a module that does not load: without its temporary path, and with its cause.
func (r *buildReport) refused(cfg app.Config, err error) error {
	why := strings.TrimPrefix(err.Error(), cfg.File+": ")
	var e *abi.Error
	if errors.As(err, &e) && e.Cause != nil {
		why += ": " + e.Cause.Error()
	}
	return fmt.Errorf("build: the project compiles, but %s does not load: %s", filepath.Base(r.File), why)
}

// replaceFile writes a file atomically.
func replaceFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	fresh := name + ".new"
	if err := os.WriteFile(fresh, content, 0o644); err != nil {
		return err
	}
	if err := os.Rename(fresh, name); err != nil {
		os.Remove(fresh)
		return err
	}
	return nil
}
