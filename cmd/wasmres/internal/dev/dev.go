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

func Command() *cli.Command {
	const serving, building = "Serving", "Building"
	return &cli.Command{
		Name: "dev", Usage: "serve a project while it is written", ArgsUsage: "[FOLDER | PROVIDER.wasm]",
		Description: `Builds the project in the folder, or in this one, and serves it; whenever a file of it is
saved, builds it again and puts the new provider in the place of the old one. Clients keep
their connections and are told that the list, and what they watch, may have changed. When it
does not build or load, the last provider goes on. What compilers and the provider say stands
on standard error, with a line for each request.

   wasmres dev
   wasmres dev --test --http 127.0.0.1:9000 notes

Given a module, serves that, and again whenever it is written by tools of your own.

In the configuration of an MCP client:

   {"mcpServers": {"notes": {"command": "wasmres", "args": ["dev", "--stdio", "/path/to/notes"]}}}`,
		Flags: providers.Flags(
			&cli.StringFlag{
				Name: "http", Category: serving, Value: "127.0.0.1:8080",
				Usage: "serve Streamable HTTP at this `ADDRESS`; port 0 takes any",
			},
			&cli.BoolFlag{Name: "stdio", Category: serving, Usage: "serve one client on stdin and stdout instead"},
			&cli.BoolFlag{
				Name: "tools", Category: serving,
				Usage: "also offer the resources as tools, for clients that know tools only",
			},
			&cli.StringFlag{
				Name: "lang", Category: building, Usage: "take the project for one in this " + build.LanguageUsage,
			},
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
		return nil // as somebody wished
	}
	return err
}

// A devServer keeps a provider built and served.
type devServer struct {
	c       *cli.Context
	cfg     app.Config
	console *console
	folder  string           // that is watched, absolute
	module  string           // the file in it that is served; empty for a project
	lang    project.Language // of a project

	app     *app.App
	watcher *watch.Watcher
	root    fs.FileInfo // of the folder that is watched
	scratch string      // a folder for what is built

	tryOnce sync.Once
	tried   chan struct{} // closed after the first build that was not given up

	// of the goroutine that builds
	served []byte   // the module, without what is only for tools; nil when there is none yet
	dir    buildDir // of it
}

// newDevServer reads the command line.
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
	if d.folder, err = filepath.Abs(d.folder); err != nil { // it may be made anew, which "." would not notice
		return nil, "", err
	}
	if d.cfg, err = providers.Config(c, "", d.console.log); err != nil {
		return nil, "", err
	}
	d.cfg.Name, d.cfg.Server.Tools = d.name(), c.Bool("tools")
	d.cfg.Loading = func(string, int) func() { return func() {} } // how long a build takes is said of each
	if !c.IsSet("cache-dir") {
		d.cfg.CacheDir = "" // what is built now is hardly served again tomorrow
	}
	return d, addr, nil
}

// address is where to listen; empty for standard input and output.
func (d *devServer) address() (string, error) {
	if !d.c.Bool("stdio") {
		return serve.HttpAddress(d.c)
	}
	if d.c.IsSet("http") {
		return "", cli.Usagef(d.c, "--http and --stdio exclude each other")
	}
	return "", nil
}

// find finds out what is to be served.
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

// name is that of the server while there is no provider to ask.
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

// ignores reports whether a file or folder is not the project's own but made by building it, or of other people. Of a
// module, everything else is.
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
		Config: d.cfg, Empty: d.cfg.Name + " has not been built yet: see the terminal, or the log, of 'wasmres dev'",
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

// run builds and serves until ctx ends, or one of them cannot go on.
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

// firstBuild is for how long clients wait for a first build, which says what the server is called.
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
	return serve.ExplainInUse(addr, d.app.ServeHTTP(ctx, app.HTTPConfig{Addr: addr, Ready: func(bound net.Addr) {
		d.console.say("serve", bold, fmt.Sprintf("%s  %s", d.console.in(bold, serve.Endpoint(bound)),
			d.console.in(dim, "Ctrl-C ends it")), "")
	}}))
}
