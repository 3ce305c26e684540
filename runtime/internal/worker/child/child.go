package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/codedir"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A child is the worker process.
type child struct {
	// fixed once it is ready
	control *protocol.Conn
	program program
	hooks   Hooks
	request protocol.StartRequest
	log     *logWriter
	layers  confine.Layers
	host    *guest.Host
	guests  guest.Guests

	sealed bool // the compiled module is loaded

	idle idleTimer
	heap atomic.Int64 // of Go, in bytes, after it was collected last

	links map[uint32]*connection // owned by the goroutine that reads the control connection
}

// load prepares the module. It locks the process down in two steps: before loading the compiled module to what that
// needs, and before the guest runs to no more than serving.
func (c *child) load(first *connection, files []*os.File) (err error) {
	// The process may have started on fewer. One more than calls use stays idle: without it, Go would wake a thread for each call
	// that waits for the parent.
	goruntime.GOMAXPROCS(c.request.Processors + 1)
	m, text, err := readModule(files[0])
	if err != nil {
		return err
	}
	if err := snapshot.UseMethod(c.request.Reset); err != nil {
		return err
	}
	c.layers, err = confine.Enter(confine.Profile{
		Memory: c.request.Memory(), Data: c.request.Data(), Files: uint64(protocol.MaxLinks + 64), FileSize: c.request.Limits.Memory,
		Threads: c.request.Threads, Read: []string{string(c.request.Compiled)},
	})
	if err != nil {
		return err
	}
	logger := slog.New(&handler{level: slog.Level(c.request.LogLevel), log: c.log})
	code, image := c.optionalFiles(files[1:])
	closeFiles := sync.OnceValue(func() error { return closeAll(files[1:]) })
	defer closeFiles()
	e, err := c.openEngine(code, logger)
	if err != nil {
		return err
	}
	runner := pool.InProcess{Engine: e, Image: image, Compiled: func() error {
		if err := closeFiles(); err != nil { // they are mapped, and the guest runs next
			return fmt.Errorf("close the files of native code and image: %w", err)
		}
		return c.seal(first)
	}}
	err = c.startGuests(withConnection(context.Background(), first), runner, m, logger)
	if err != nil && !c.sealed && !c.hasCode() { // another process has removed it meanwhile
		return errNoCode().Because(err)
	}
	if err == nil && c.guests.Info().Reset != guest.StartFresh {
		c.host.Module = m.WithoutData()
		err = protocol.UnmapFile(text)
	}
	return err
}

// optionalFiles returns the files that the request says come after that of the module.
func (c *child) optionalFiles(files []*os.File) (code *os.File, image instance.ImageFile) {
	if c.request.Mapped {
		code, files = files[0], files[1:]
	}
	if c.request.Image != protocol.NoImage {
		image = instance.ImageFile{File: files[0], Saved: c.request.Image == protocol.SavedImage}
	}
	return code, image
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func errNoCode() *abi.Error {
	return abi.Errorf(abi.CodeModule, "the compiled module is missing")
}

// hasCode reports whether the directory has compiled code. The worker's module itself has none.
func (c *child) hasCode() bool {
	code, err := codedir.List(string(c.request.Compiled))
	return err == nil && len(code) > 0
}

// readModule maps the file of the module, which the parent has sealed: no process can change it. Only the data of the module's
// memory refers to the mapping.
func readModule(f *os.File) (m *module.Module, mapped []byte, err error) {
	defer f.Close()
	mapped, err = protocol.MapFile(f)
	if err != nil {
		return nil, nil, fmt.Errorf("module: %w", err)
	}
	if m, err = module.Decode(mapped); err != nil {
		return nil, nil, err
	}
	m.Manifest, m.Code.Binary = bytes.Clone(m.Manifest), bytes.Clone(m.Code.Binary)
	return m, mapped, nil
}

func (c *child) openEngine(code *os.File, logger *slog.Logger) (engine.Engine, error) {
	e, err := c.request.Engine.Open(engine.Config{CacheDir: string(c.request.Compiled), Code: code, Tested: &c.request.Tests, Logger: logger})
	if err != nil || c.hooks.Engine == nil {
		return e, err
	}
	return c.hooks.Engine(e), nil
}

// seal locks the process down for its whole life, and tells the parent that the guest starts.
func (c *child) seal(first *connection) (err error) {
	if c.layers, err = confine.Seal(c.layers); err != nil {
		return err
	}
	c.sealed = true
	limitHeap()
	if c.hooks.Sealed != nil {
		c.hooks.Sealed()
	}
	if err := first.out.Put(protocol.KindSealed); err != nil {
		return err
	}
	return first.out.Flush()
}

// startGuests starts the guests. Meanwhile their service calls and log records use the connection of ctx.
func (c *child) startGuests(ctx context.Context, runner guest.Runner, m *module.Module, logger *slog.Logger) (err error) {
	r := &c.request
	c.host, err = guest.NewHost(guest.Config{
		Module: m, Limits: r.Limits, Services: proxies(r.Services), MaxLifecycle: r.Lifecycle, Values: r.Config, Clock: r.Clock, Records: r.Records, ExposeErrors: r.Expose,
		Notify: notify, OnUngranted: ungranted, Logger: logger,
	})
	if err != nil {
		return err
	}
	c.guests, err = runner.Open(ctx, c.host)
	return err
}

// sendReady reports to the parent that the guests have started, and how.
func (c *child) sendReady(first *connection) error {
	text, err := json.Marshal(protocol.ReadyMessage{Info: c.guests.Info(), Layers: c.layers})
	if err != nil {
		return err
	}
	if !c.host.Packed() {
		if err := first.out.Put(protocol.KindFrame, c.host.Manifest().Append(nil)); err != nil {
			return err
		}
	}
	if err := first.out.Put(protocol.KindReady, text); err != nil {
		return err
	}
	return first.out.Flush()
}
