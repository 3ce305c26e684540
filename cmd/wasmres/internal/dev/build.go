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
	"github.com/wasmres/wasmres/runtime/wasm"
	"github.com/wasmres/wasmres/runtime/watch"
)

// keepBuilding builds, and again whenever something has changed, until ctx ends. A build under way is given up then.
func (d *devServer) keepBuilding(ctx context.Context) error {
	began := time.Now()
	for {
		building, giveUp := context.WithCancel(ctx)
		built := make(chan struct{})
		go func() {
			defer close(built)
			d.build(building, began)
		}()
		change, err := d.next(ctx)
		giveUp()
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

// lookEvery is how often somebody looks whether the folder is there.
const lookEvery = 250 * time.Millisecond

// next waits for a change, or until the folder is gone: of that nothing tells while it is the one this process works
// in.
func (d *devServer) next(ctx context.Context) (*watch.Change, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	root := d.root
	go func() {
		ticks := time.NewTicker(lookEvery)
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

// awaitFolder waits until the folder is there again, as tools remove it and make it anew, and watches that.
func (d *devServer) awaitFolder(ctx context.Context) error {
	d.console.say("watch", yellow, printable.Line(d.folder)+" is gone; waiting for it to be there again", "")
	if err := d.watcher.Close(); err != nil {
		return err
	}
	if d.module != "" {
		d.module = filepath.Join(d.folder, filepath.Base(d.module)) // wherever we are
	}
	ticks := time.NewTicker(lookEvery)
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
			d.console.say("watch", green, "it is there again", "")
		}
		return err
	}
}

// changedNames says what has changed, but not more than one can take in.
func changedNames(change *watch.Change) string {
	const most = 4
	names := change.Names
	text := strings.Join(names[:min(len(names), most)], "  ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf("  and %d more", more)
	}
	return printable.Line(text)
}

// build makes a provider and puts it in the place of the last one. What somebody did that led to it was done at began.
func (d *devServer) build(ctx context.Context, began time.Time) {
	outcome, err := d.rebuild(ctx)
	switch {
	case err == nil:
		d.succeeded(outcome, time.Since(began))
	case ctx.Err() != nil: // given up
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

// rebuild compiles and swaps, and says which of that was of any use.
func (d *devServer) rebuild(ctx context.Context) (outcome string, err error) {
	binary, err := d.compile(ctx)
	if err != nil {
		return "", err
	}
	bare, err := wasm.Strip(binary)
	if err != nil {
		bare = binary // which is no module, as somebody will say
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

// compile gives the module to serve, which has the names of its functions where it is built here.
func (d *devServer) compile(ctx context.Context) ([]byte, error) {
	if d.module != "" {
		return readStart(d.module)
	}
	module, err := project.Build(ctx, d.folder, d.lang, nil)
	if err != nil {
		return nil, err
	}
	return module.Binary, nil
}

// maxModule is more than a module may have, in bytes.
const maxModule = 128 << 20

// readStart gives a file, of which nobody knows whether it is a module, as far as it could be one.
func readStart(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxModule))
}

// A place is where the files of one build are.
type buildDir struct {
	folder string // ours; goes when there is another build
	file   string // the module
}

// newBuildDir makes a place for a module, which is written there unless it has a file of its own.
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

// swap has a module served. Its file stays as long as it is, since failures are explained by the names in it.
func (d *devServer) swap(ctx context.Context, binary []byte) error {
	fresh, err := d.newBuildDir(binary)
	if err != nil {
		return err
	}
	if err := d.app.Replace(ctx, fresh.file); err != nil {
		_ = os.RemoveAll(fresh.folder) // else it goes when all does
		return notLoaded{err, fresh.file}
	}
	if d.served != nil {
		_ = os.RemoveAll(d.dir.folder)
	}
	d.dir = fresh
	return nil
}

// notLoaded is that what was built is no provider.
type notLoaded struct {
	error
	file string
}

func (e notLoaded) Unwrap() error { return e.error }

// Error says it without the file, whose name means nothing to anybody, but with the cause.
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

// failed says why there is no new provider.
func (d *devServer) failed(err error, elapsed time.Duration) {
	said, under := err.Error(), ""
	var failed *project.Failed
	var refused notLoaded
	switch {
	case errors.As(err, &failed):
		under = d.console.compilerOutput(failed.Output)
	case errors.As(err, &refused):
		said = "the module does not load: " + said
		var where strings.Builder
		cli.PrintCrash(&where, err)
		under = where.String()
	}
	goesOn := "there is no provider yet"
	if d.served != nil {
		goesOn = "the last provider goes on"
	}
	d.console.say("build", red, fmt.Sprintf("%s in %.2f s: %s; %s", d.console.in(red, "failed"), elapsed.Seconds(),
		printable.Line(said), goesOn), under)
}

// sample reads what the person wants to see read.
func (d *devServer) sample(ctx context.Context) {
	if uri := d.c.String("sample"); uri != "" {
		_, _ = d.app.Call(ctx, "resources/read", map[string]string{"uri": uri}) // the console shows what comes of it
	}
}

// test replays the sessions that are recorded, and shows what differs.
func (d *devServer) test(ctx context.Context) {
	if !d.c.Bool("test") {
		return
	}
	files, _ := fs.Glob(os.DirFS(d.folder), "tests/[^.]*.txtar") // which fails for a bad pattern only
	if len(files) == 0 {
		d.console.say("test", yellow, "there is no session tests/*.txtar", "")
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

// tester replays sessions with the provider that is served, and with nothing that flags grant.
func (d *devServer) tester() *test.Runner {
	cfg := d.cfg
	cfg.File, cfg.Grants = d.dir.file, policy.Policy{}
	cfg.Logger = slog.New(slog.DiscardHandler)
	return &test.Runner{Config: cfg}
}
