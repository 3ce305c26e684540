package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/confine"
	"github.com/wasmres/wasmres/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/engine/wazero"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// A child is the worker, as it sees itself.
type child struct {
	// fixed once it is ready
	request protocol.StartRequest
	layers  confine.Layers
	host    *runtime.Host
	guests  runtime.Guests
	packed  bool // the manifest is part of the module
	reports *reporter
	program program
	inside  Inside

	sealed bool // the compiled module is loaded

	links map[uint32]*inner // owned by the goroutine that reads the control connection
}

// load gets the module ready, and locks the process down on the way: first to what it takes to load the compiled
// module, and before any of the guest runs to nothing.
func (c *child) load(first *inner, module *os.File) (err error) {
	dir := string(c.request.Compiled)
	goruntime.GOMAXPROCS(c.request.Processors) // it may have begun on fewer
	if !c.hasCode() {
		return abi.Errorf(abi.CodeModule, "the compiled module is gone")
	}
	prepared, err := readPrepared(module)
	if err != nil {
		return err
	}
	if err := snapshot.UseMethod(c.request.Reset); err != nil {
		return err
	}
	c.layers, err = confine.Enter(confine.Profile{
		Memory: c.request.Memory(), Files: uint64(protocol.MaxLinks + 64), FileSize: c.request.Limits.Memory, Threads: c.request.Threads, Read: []string{dir},
	})
	if err != nil {
		return err
	}
	logger := slog.New(&handler{level: slog.Level(c.request.LogLevel), reports: c.reports})
	e, err := c.engine(logger)
	if err != nil {
		return err
	}
	runner := runtime.InProcess{Engine: e, Compiled: func() error { return c.seal(first) }}
	err = c.open(onLink(context.Background(), first), runner, prepared, logger)
	if err != nil && !c.sealed && !c.hasCode() { // another process has found it of no use meanwhile
		return abi.Errorf(abi.CodeModule, "the compiled module is gone").Because(err)
	}
	return err
}

// open has a runner start the guests. What they ask and say while they start goes out on the link of ctx.
func (c *child) open(ctx context.Context, runner runtime.Runner, prepared *runtime.Prepared, logger *slog.Logger) (err error) {
	o := &c.request
	c.host = runtime.NewHost(runtime.HostConfig{
		Limits: o.Limits, Services: proxies(o.Services), Lifecycle: o.Lifecycle, Notify: notify, Ungranted: ungranted, Logger: logger,
	})
	order := &runtime.Order{
		Module: prepared, Limits: o.Limits, Lifecycle: o.Lifecycle, Values: o.Config, Logger: logger, Determinism: o.Determinism,
		Learn: c.host.SetManifest, Host: c.host,
	}
	if c.packed = order.Packed(); c.packed {
		manifest, err := abi.DecodeManifest(prepared.Manifest)
		if err != nil {
			return err
		}
		if err := c.host.SetManifest(manifest); err != nil {
			return err
		}
	}
	c.guests, err = runner.Open(ctx, order)
	return err
}

// hasCode reports whether the folder of the compiled module has one: the worker has the module without code.
func (c *child) hasCode() bool {
	code, err := wazero.Entries(string(c.request.Compiled))
	return err == nil && len(code) > 0
}

func (c *child) engine(logger *slog.Logger) (engine.Engine, error) {
	e, err := wazero.Open(wazero.Config{CacheDir: string(c.request.Compiled), Tested: &c.request.Tests, Logger: logger})
	if err != nil || c.inside.Engine == nil {
		return e, err
	}
	return c.inside.Engine(e), nil
}

// seal locks the process down for good, and says that the guest begins.
func (c *child) seal(first *inner) (err error) {
	if c.layers, err = confine.Seal(c.layers); err != nil {
		return err
	}
	c.sealed = true
	holdLess()
	if c.inside.Sealed != nil {
		c.inside.Sealed()
	}
	if err := first.out.Put(protocol.KindSealed); err != nil {
		return err
	}
	return first.out.Flush()
}

// ready tells the parent what it has got.
func (c *child) ready(first *inner) error {
	lane, why := c.guests.Lane()
	text, err := json.Marshal(protocol.ReadyMessage{Lane: lane, Why: why, Start: c.guests.Started(), Layers: c.layers})
	if err != nil {
		return err
	}
	if !c.packed {
		if err := first.out.Put(protocol.KindFrame, c.host.Manifest().Append(nil)); err != nil {
			return err
		}
	}
	if err := first.out.Put(protocol.KindReady, text); err != nil {
		return err
	}
	return first.out.Flush()
}

// begin has a link served until the parent closes it.
func (c *child) begin(l *inner) {
	c.links[l.id] = l
	go l.serve(c.host, c.guests) // ends with the process
}

// readPrepared looks at the module where the parent has put it, and sealed it: nobody can change it.
func readPrepared(f *os.File) (*runtime.Prepared, error) {
	defer f.Close()
	text, err := protocol.MapFile(f)
	if err != nil {
		return nil, fmt.Errorf("module: %w", err)
	}
	return runtime.DecodePrepared(text)
}

// proxies are services that ask the parent.
func proxies(ids []abi.Service) capability.Services {
	services := capability.Services{}
	for _, id := range ids {
		services[id] = proxy(id)
	}
	return services
}

// A proxy asks the parent on the link of the call. The parent bounds the time of its answer.
type proxy abi.Service

// Immediate implements [capability.Immediate].
func (p proxy) Immediate() {}

// Call implements [capability.Service].
func (p proxy) Call(ctx context.Context, request []byte) (capability.Response, error) {
	return linkOf(ctx).ask(abi.Service(p), request)
}

// ungranted asks the parent for what it has not granted, so that the operator learns of it. The parent denies it.
func ungranted(ctx context.Context, id abi.Service, request []byte) {
	_, _ = linkOf(ctx).ask(id, request) // a connection that fails keeps failing
}

// notify passes a notice of the guest's on.
func notify(ctx context.Context, uri string) { linkOf(ctx).changed(uri) }
