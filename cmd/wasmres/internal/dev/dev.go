package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/build"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/serve"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime/watch"
)

// Command returns the command dev.
func Command() *cli.Command {
	const serving, building = "Serving", "Building"
	return &cli.Command{
		Name: "dev", Usage: "build and serve a project whenever a file of it changes", ArgsUsage: "[FOLDER | PROVIDER.wasm]",
		Description: `Builds the project in the folder, or in this one, and serves it. When a file of it is saved, builds
it again and replaces the provider. Clients keep their connections, and are notified that the list
and the resources they subscribed to may have changed. If the project does not build or load, the
last provider stays. Standard error has the output of compilers and of the provider, and a line for
each request.

   wasmres dev
   wasmres dev --test --http 127.0.0.1:9000 notes

With a module, serves that, and replaces the provider when tools of your own write the module.

In the configuration of an MCP client:

   {"mcpServers": {"notes": {"command": "wasmres", "args": ["dev", "--stdio", "/path/to/notes"]}}}`,
		Flags: providers.Flags(
			&cli.StringFlag{
				Name: "http", Category: serving, Value: "127.0.0.1:8080",
				Usage: "serve Streamable HTTP at this `ADDRESS`; port 0 takes any",
			},
			&cli.BoolFlag{Name: "stdio", Category: serving, Usage: "serve one client on stdin and stdout instead of HTTP"},
			serve.InsecureFlag(serving),
			&cli.BoolFlag{
				Name: "tools", Category: serving,
				Usage: "also offer the resources as tools, for clients that support only tools",
			},
			&cli.BoolFlag{
				Name: "expose-errors", Category: serving, Value: true,
				Usage: "send clients the first line of the provider's ordinary errors, as of an exception, instead of \"Internal error\"",
			},
			cli.Choice(&cli.StringFlag{
				Name: "lang", Category: building, Usage: "compile the project as one in this " + build.LanguageUsage,
			}, build.Languages()...),
			&cli.StringFlag{Name: "sample", Category: building, Usage: "read this `URI` after each build"},
			&cli.BoolFlag{
				Name: "test", Category: building, Usage: "replay the recorded sessions in tests/ after each build",
			},
		),
		OnUsageError: cli.OnUsageError,
		Action:       dev,
	}
}

func dev(c *cli.Context) error {
	d, addr, err := newDevServer(c)
	if err != nil {
		return err
	}
	err = d.open()
	if err == nil {
		err = d.run(c.Context, addr)
	}
	if err = errors.Join(err, d.close()); c.Context.Err() != nil {
		return nil // a signal has ended it
	}
	return err
}

// A devServer builds and serves a provider, again after each change of its files.
type devServer struct {
	c       *cli.Context
	cfg     app.Config
	console *console
	folder  string           // to watch, absolute
	module  string           // the file in it to serve; empty for a project
	lang    project.Language // of a project

	app     *app.App
	watcher *watch.Watcher
	root    fs.FileInfo // of folder, when it was opened
	scratch string      // a temporary directory for what is built

	tryOnce sync.Once
	tried   chan struct{} // closed after the first build that was not cancelled

	// only for the goroutine that builds
	served []byte   // the module, without custom sections; nil if there is none yet
	dir    buildDir // with its files
}

// newDevServer reads the command line. addr is where to listen, as address returns it.
func newDevServer(c *cli.Context) (d *devServer, addr string, err error) {
	d = &devServer{c: c, console: newConsole(c.App.ErrWriter), tried: make(chan struct{})}
	if addr, err = d.address(); err != nil {
		return nil, "", err
	}
	if uri := c.String("sample"); uri != "" {
		if err := abi.CheckURI(uri); err != nil {
			return nil, "", cli.Usagef(c, "--sample: %w", err)
		}
	}
	if err := d.find(); err != nil {
		return nil, "", err
	}
	if d.folder, err = filepath.Abs(d.folder); err != nil { // the folder may be replaced, which "." would not show
		return nil, "", err
	}
	if d.cfg, err = providers.Config(c, "", d.console.log); err != nil {
		return nil, "", err
	}
	d.cfg.Name, d.cfg.Server.Tools = d.name(), c.Bool("tools")
	d.cfg.ExposeErrors = c.Bool("expose-errors")
	d.cfg.Loading = func(string, int) func() { return func() {} } // the console has the time of each build
	if !c.IsSet("cache-dir") {
		d.cfg.CacheDir = "" // builds of today are seldom served again
	}
	return d, addr, nil
}

// address returns where to listen; empty for standard input and output.
func (d *devServer) address() (string, error) {
	if !d.c.Bool("stdio") {
		return serve.HTTPAddress(d.c)
	}
	if d.c.IsSet("http") {
		return "", cli.Usagef(d.c, "--http and --stdio exclude each other")
	}
	return "", nil
}

// find decides what to serve: a project or a module.
func (d *devServer) find() (err error) {
	given := d.c.Args().First()
	info, statErr := os.Stat(given)
	isFile := statErr == nil && info.Mode().IsRegular()
	if !isFile && (statErr == nil || !strings.HasSuffix(given, ".wasm")) {
		d.folder, d.lang, err = build.Project(d.c)
		return err
	}
	for _, flag := range []string{"lang", "test"} {
		if d.c.IsSet(flag) {
			return cli.Usagef(d.c, "--%s is for a project, and %s is a file", flag, given)
		}
	}
	if d.c.NArg() > 1 {
		return cli.Usagef(d.c, "one argument too many: %q", d.c.Args().Get(1))
	}
	d.folder, d.module = filepath.Dir(given), given
	return nil
}

// name returns the name of the server while there is no provider.
func (d *devServer) name() string {
	path := d.folder
	if d.module != "" {
		path = strings.TrimSuffix(d.module, ".wasm")
	}
	if name := filepath.Base(path); name != string(filepath.Separator) {
		return name
	}
	return "provider"
}

// ignores reports whether a file or directory is not a source: it is the result of a build, or has dependencies. If a
// module is served, all other files are ignored.
func (d *devServer) ignores(name string) bool {
	if d.module != "" {
		return name != filepath.Base(d.module)
	}
	switch filepath.Base(name) {
	case "node_modules", "target", "__pycache__":
		return true
	}
	return strings.HasSuffix(name, ".wasm") || strings.HasSuffix(name, ".wasm.new")
}

func (d *devServer) open() (err error) {
	if d.scratch, err = os.MkdirTemp("", "wasmres-dev-"); err != nil {
		return err
	}
	if err = d.watch(d.c.Context); err != nil {
		return err
	}
	if d.cfg.CacheDir == "" {
		d.cfg.CacheDir = filepath.Join(d.scratch, "cache")
	}
	d.app, err = app.OpenReload(app.ReloadConfig{
		Config: d.cfg, Empty: d.cfg.Name + " has not been built yet: see the output of 'wasmres dev'",
		Observe: d.console.request,
	})
	return err
}

func (d *devServer) watch(ctx context.Context) (err error) {
	if d.root, err = os.Stat(d.folder); err != nil {
		return err
	}
	d.watcher, err = watch.Open(ctx, watch.Config{Folder: d.folder, Ignores: d.ignores})
	return err
}

func (d *devServer) close() error {
	var errs []error
	if d.app != nil {
		errs = append(errs, d.app.Close())
	}
	if d.watcher != nil {
		errs = append(errs, d.watcher.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(d.scratch))...)
}

// run builds and serves until ctx ends or one of them fails.
func (d *devServer) run(ctx context.Context, addr string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	built := make(chan error, 1)
	go func() {
		defer stop()
		built <- d.keepBuilding(ctx)
	}()
	d.awaitFirst(ctx)
	err := d.serve(ctx, addr)
	stop()
	return errors.Join(err, <-built)
}

// firstBuild is how long clients wait for the first build, which gives the name of the server.
const firstBuild = 10 * time.Second

func (d *devServer) awaitFirst(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstBuild)
	defer cancel()
	select {
	case <-d.tried:
	case <-ctx.Done():
	}
}

func (d *devServer) serve(ctx context.Context, addr string) error {
	if ctx.Err() != nil {
		return nil
	}
	if addr == "" {
		d.console.say("serve", bold, "one client, on standard input and output", "")
		return d.app.ServeStdio(ctx, serve.Pollable(d.c.App.Reader), d.c.App.Writer)
	}
	err := d.app.ServeHTTP(ctx, app.HTTPConfig{Addr: addr, Insecure: d.c.Bool("insecure"), Ready: func(bound net.Addr) {
		d.console.say("serve", bold, fmt.Sprintf("%s  %s", d.console.in(bold, serve.Endpoint(bound, false)),
			d.console.in(dim, "press Ctrl-C to stop")), "")
	}})
	const advice = "add --insecure if that is wanted, or use 'wasmres run', which can authenticate clients"
	return serve.ExplainInUse(addr, serve.ExplainExposed(addr, advice, err))
}
