package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A Factory makes the instances of one module. It is safe for concurrent use.
type Factory struct {
	// fixed once it is open
	*guest.Host
	compiled engine.Module
	reserve  *snapshot.Reserve
	image    *snapshot.Image // nil when the guest, while starting, has changed state that no image holds
	globals  []uint64        // of the image
	now      time.Duration   // of the image, since Clock.Time
	started  limits.Start
	unsaved  string            // why the image is not the saved one; empty if it is, or there is none
	saves    bool              // the image is made in a new file
	state    *guest.ImageState // of that image; nil if there is none
}

// A Setup says how a factory starts.
type Setup struct {
	Engine engine.Engine // required
	// Compile has a module compiled before Engine compiles it, and does not hold binary while the module waits for its turn if load is not
	// nil, which returns it again. Nil leaves all to Engine.
	Compile func(ctx context.Context, binary []byte, load func() ([]byte, error)) error
	// Compiled is called when a module is compiled, all files that running it needs are open, and the guest has not run yet.
	// Nil calls nothing.
	Compiled func() error
	// Image is the file for the image; the zero value is for an image of this process alone.
	Image ImageFile
}

// NewFactory compiles a module, starts its first instance, and makes the image from which others start; with a saved image it
// starts none. ctx bounds the work.
func NewFactory(ctx context.Context, h *guest.Host, s Setup) (*Factory, error) {
	f := &Factory{Host: h}
	if err := f.open(ctx, &s); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// compile has the module compiled. It lets go of the module meanwhile, as many may wait for the compiler.
func (f *Factory) compile(ctx context.Context, s *Setup) error {
	if s.Compile == nil {
		return nil
	}
	whole, err := f.Module.Load()
	if err != nil {
		return err
	}
	f.ReleaseModule()
	if err := s.Compile(f.Share.Context(ctx), whole.Binary(), f.Module.Loader()); err != nil {
		return err
	}
	f.Module, err = f.Module.Load()
	return err
}

func (f *Factory) open(ctx context.Context, s *Setup) error {
	if err := f.compile(ctx, s); err != nil {
		return err
	}
	compiled, err := s.Engine.Compile(ctx, f.Module.Code.Binary, hostFuncs())
	if err != nil {
		return err // and compiled may be a nil of any engine
	}
	f.compiled = compiled
	if err := f.prepareImage(&s.Image); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if s.Compiled != nil {
		if err := s.Compiled(); err != nil {
			return err
		}
	}
	if f.image != nil {
		return nil
	}
	return f.start(ctx)
}

// start starts the first instance and makes its image.
func (f *Factory) start(ctx context.Context) error {
	var ask startStep
	if !f.Packed() {
		ask = f.describe
	}
	began := time.Now()
	s, err := f.boot(ctx, ask)
	if err != nil {
		return err
	}
	f.started = limits.Start{Fuel: s.spent, Took: time.Since(began)}
	return errors.Join(f.captureImage(s), s.close())
}

// describe gets the manifest from the guest.
func (f *Factory) describe(ctx *deadline.Context, s *Instance) error {
	c := f.Host.NewCall(abi.OpDescribe, &abi.Request{HostMinor: abi.Minor}, nil)
	if err := s.run(ctx, c); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if c.Reply().Manifest == nil {
		return abi.Errorf(abi.CodeProtocol, "describe emitted no manifest")
	}
	return f.SetManifest(c.Reply().Manifest)
}

// Info returns how instances start and are reset.
func (f *Factory) Info() guest.Info {
	info := guest.Info{
		Reset: guest.ResetInPlace, Why: f.Module.Code.CanDirty, Start: f.started, Copied: f.copied(), Unsaved: f.unsaved, State: f.state,
	}
	switch {
	case f.image == nil:
		info.Reset, info.Why = guest.StartFresh, info.Why+", and did so while it started"
	case info.Why != "":
		info.Reset = guest.ResetOrReplace
	}
	return info
}

// copied returns why the native code is a copy, if the engine can map it.
func (f *Factory) copied() string {
	if m, ok := f.compiled.(engine.CodeMapper); ok && m.Copied() != nil {
		return m.Copied().Error()
	}
	return ""
}

// Trim releases memory that no call needs while none runs. It takes microseconds.
func (f *Factory) Trim() {
	if t, ok := f.compiled.(engine.Trimmer); ok {
		t.Trim()
	}
}

// Close releases the resources that all instances share. All of them must have been discarded.
func (f *Factory) Close() error {
	var errs []error
	if f.image != nil {
		errs = append(errs, f.image.Close())
	}
	if f.reserve != nil {
		errs = append(errs, f.reserve.Close())
	}
	if f.compiled != nil {
		errs = append(errs, f.compiled.Close())
	}
	return errors.Join(errs...)
}

// DiscardAll discards several instances.
func (f *Factory) DiscardAll(list []*Instance, why error) {
	for _, s := range list {
		f.Discard(s, why)
	}
}

// Discard releases an instance that is not used again; it does nothing for nil.
func (f *Factory) Discard(s *Instance, why error) {
	if s == nil {
		return
	}
	f.Logger.Debug("instance discarded", "err", guest.Truncate(why))
	if err := s.close(); err != nil {
		f.Logger.Warn("instance close failed", "err", guest.Truncate(err))
	}
}

// memoryLimit returns the most bytes of memory of an instance, by the limits of the operator and of the module.
func (f *Factory) memoryLimit() uint64 {
	return min(f.Limits.Memory, uint64(f.Module.Code.MaxPages)*engine.PageSize)
}

// reservation returns how much address space the engine needs for each memory; zero if it needs none beside the memory.
func (f *Factory) reservation() uint64 {
	if r, ok := f.compiled.(engine.Reserver); ok {
		return r.Reservation()
	}
	return 0
}

// HasImage reports whether there is an image, so that a new instance need not start.
func (f *Factory) HasImage() bool { return f.image != nil }

// crash makes the crash for an error of an engine. It leaves out functions that metering has added.
func (f *Factory) crash(err error) *abi.Crash {
	var trap *engine.Trap
	if !errors.As(err, &trap) {
		return abi.NewCrash(guest.Truncate(err).Error(), nil)
	}
	var functions []uint32
	for _, index := range trap.Stack {
		if original, ok := f.Module.Code.Original(index); ok {
			functions = append(functions, original)
		}
	}
	return abi.NewCrash(trap.Reason, functions)
}
