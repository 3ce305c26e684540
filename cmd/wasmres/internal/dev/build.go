package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/test"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime/preinit"
	"github.com/wasmres/wasmres/runtime/wasm"
	"github.com/wasmres/wasmres/runtime/watch"
)

// keepBuilding builds, and builds again after each change, until ctx ends. A change cancels the build under way.
func (d *devServer) keepBuilding(ctx context.Context) error {
	began := time.Now()
	for {
		building, cancel := context.WithCancel(ctx)
		built := make(chan struct{})
		go func() {
			defer close(built)
			d.build(building, began)
		}()
		change, err := d.next(ctx)
		cancel()
		<-built
		if errors.Is(err, watch.ErrGone) {
			if err = d.awaitFolder(ctx); err == nil {
				began = time.Now()
				continue
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case change == nil:
			return fmt.Errorf("watch %s: %w", d.folder, err)
		}
		if err != nil {
			d.console.say("watch", yellow, printable.Line(err.Error()), "")
		}
		d.console.say("changed", blue, changedNames(change), "")
		began = change.At
	}
}

// pollInterval is the time between checks of whether the folder exists.
const pollInterval = 250 * time.Millisecond

// next waits for a change, or until the folder is removed or replaced, with the error watch.ErrGone. It polls for that:
// the watcher receives no event if the folder is the working directory of this process.
func (d *devServer) next(ctx context.Context) (*watch.Change, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	root := d.root
	go func() {
		ticks := time.NewTicker(pollInterval)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			now, err := os.Stat(d.folder)
			if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, root) {
				stop(watch.ErrGone)
			}
		}
	}()
	change, err := d.watcher.Next(ctx)
	if change == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return change, err
}

// awaitFolder waits until the folder exists again, since tools remove and recreate it, and watches the new one.
func (d *devServer) awaitFolder(ctx context.Context) error {
	d.console.say("watch", yellow, printable.Line(d.folder)+" was removed; waiting until it exists again", "")
	if err := d.watcher.Close(); err != nil {
		return err
	}
	if d.module != "" {
		d.module = filepath.Join(d.folder, filepath.Base(d.module)) // absolute: the working directory may be the old folder
	}
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
		err := d.watch(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			d.console.say("watch", green, "it exists again", "")
		}
		return err
	}
}

// changedNames returns the first names of the changed files, and how many more there are.
func changedNames(change *watch.Change) string {
	const maxNames = 4
	names := change.Names
	text := strings.Join(names[:min(len(names), maxNames)], "  ")
	if more := len(names) - maxNames; more > 0 {
		text += fmt.Sprintf("  and %d more", more)
	}
	return printable.Line(text)
}

// build builds a provider and replaces the last one. began is when the change that led to it was made.
func (d *devServer) build(ctx context.Context, began time.Time) {
	outcome, err := d.rebuild(ctx)
	switch {
	case err == nil:
		d.succeeded(outcome, time.Since(began))
	case ctx.Err() != nil: // cancelled
		return
	default:
		d.failed(err, time.Since(began))
	}
	d.tryOnce.Do(func() { close(d.tried) })
	if err == nil && ctx.Err() == nil {
		d.sample(ctx)
		d.test(ctx)
	}
}

// rebuild compiles and replaces the provider. The outcome is ready for the first, unchanged or swapped.
func (d *devServer) rebuild(ctx context.Context) (outcome string, err error) {
	binary, err := d.compile(ctx)
	if err != nil {
		return "", err
	}
	bare, err := wasm.Strip(binary)
	if err != nil {
		bare = binary // not a module: loading it reports that
	}
	switch {
	case d.served == nil:
		outcome = "ready"
	case bytes.Equal(bare, d.served):
		return "unchanged", nil
	default:
		outcome = "swapped"
	}
	if err := d.swap(ctx, binary); err != nil {
		return "", err
	}
	d.served = bare
	return outcome, nil
}

// compile returns the module to serve. A module of a project has the names of its functions.
func (d *devServer) compile(ctx context.Context) ([]byte, error) {
	if d.module != "" {
		return readStart(d.module)
	}
	module, err := project.Build(ctx, d.folder, d.lang, project.Options{Cache: preinit.Cache{Dir: d.cfg.CacheDir, MaxBytes: d.cfg.CacheSize}})
	if err != nil {
		return nil, err
	}
	return module.Binary, nil
}

// maxModule is larger than any valid module, in bytes.
const maxModule = 128 << 20

// readStart returns the first maxModule bytes of a file, which may not be a module.
func readStart(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxModule))
}

// A buildDir has the files of one build.
type buildDir struct {
	folder string // temporary, removed after the next build
	file   string // the module
}

// newBuildDir makes a directory for a build and writes the module to it, unless the module has a file of its own.
func (d *devServer) newBuildDir(binary []byte) (p buildDir, err error) {
	if p.folder, err = os.MkdirTemp(d.scratch, "build-"); err != nil {
		return buildDir{}, err
	}
	if p.file = d.module; p.file == "" {
		p.file = filepath.Join(p.folder, d.cfg.Name+".wasm")
		err = os.WriteFile(p.file, binary, 0o600)
	}
	return p, err
}

// swap replaces the provider. The module's file stays while it is served: stack traces take the names of functions from it.
func (d *devServer) swap(ctx context.Context, binary []byte) error {
	fresh, err := d.newBuildDir(binary)
	if err != nil {
		return err
	}
	if err := d.app.Replace(ctx, fresh.file); err != nil {
		_ = os.RemoveAll(fresh.folder) // if this fails, close removes it
		return notLoaded{err, fresh.file}
	}
	if d.served != nil {
		_ = os.RemoveAll(d.dir.folder)
	}
	d.dir = fresh
	return nil
}

// notLoaded is the error for a module that does not load as a provider.
type notLoaded struct {
	error
	file string
}

func (e notLoaded) Unwrap() error { return e.error }

// Error returns the message without the temporary file name, and with the cause.
func (e notLoaded) Error() string {
	why := strings.TrimPrefix(e.error.Error(), e.file+": ")
	var known *abi.Error
	if errors.As(e.error, &known) && known.Cause != nil {
		why += ": " + known.Cause.Error()
	}
	return why
}

func (d *devServer) succeeded(outcome string, elapsed time.Duration) {
	verb := "built"
	if d.module != "" {
		verb = "loaded"
	}
	d.console.say("build", green, fmt.Sprintf("%s in %.2f s, %s, %s", verb, elapsed.Seconds(),
		terminal.Size(uint64(len(d.served))), d.console.in(green, outcome)), "")
}

// failed prints why there is no new provider.
func (d *devServer) failed(err error, elapsed time.Duration) {
	text, under := err.Error(), ""
	var failed *project.Failed
	var refused notLoaded
	switch {
	case errors.As(err, &failed):
		under = d.console.compilerOutput(failed.Output)
	case errors.As(err, &refused):
		text = "the module does not load: " + text
		var where strings.Builder
		cli.PrintCrash(&where, err)
		under = where.String()
	}
	current := "there is no provider yet"
	if d.served != nil {
		current = "the last provider stays"
	}
	d.console.say("build", red, fmt.Sprintf("%s in %.2f s: %s; %s", d.console.in(red, "failed"), elapsed.Seconds(),
		printable.Line(text), current), under)
}

// sample reads the resource of --sample.
func (d *devServer) sample(ctx context.Context) {
	if uri := d.c.String("sample"); uri != "" {
		_, _ = d.app.Call(ctx, "resources/read", map[string]string{"uri": uri}) // the console shows the outcome
	}
}

// test replays the recorded sessions, if --test is set, and shows what differs.
func (d *devServer) test(ctx context.Context) {
	if !d.c.Bool("test") {
		return
	}
	files, _ := fs.Glob(os.DirFS(d.folder), "tests/[^.]*.txtar") // fails only for a malformed pattern
	if len(files) == 0 {
		d.console.say("test", yellow, "no session found, tests/*.txtar", "")
		return
	}
	began, steps, failed := time.Now(), 0, 0
	t := d.tester()
	var under strings.Builder
	for _, file := range files {
		r := t.Run(ctx, filepath.Join(d.folder, filepath.FromSlash(file)))
		if ctx.Err() != nil {
			return
		}
		steps, failed = steps+r.Steps, failed+r.Failed()
		if r.Failed() > 0 {
			test.Print(&under, r)
		}
	}
	p, outcome := green, terminal.Counted(steps, "step")
	if failed > 0 {
		p, outcome = red, terminal.Counted(failed, "failure")+" in "+outcome
	}
	d.console.say("test", p, d.console.in(p, outcome)+", "+shortTime(time.Since(began)),
		d.console.diff(under.String()))
}

// tester returns a runner for sessions of the provider that is served, without the grants of flags.
func (d *devServer) tester() *test.Runner {
	cfg := d.cfg
	cfg.File, cfg.Grants = d.dir.file, policy.Policy{}
	cfg.Logger = slog.New(slog.DiscardHandler)
	return &test.Runner{Config: cfg}
}
