package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// A startStep is a part of starting an instance.
type startStep = func(ctx *deadline.Context, s *Instance) error

// boot makes an instance from nothing: memory as the module says, its start function, initialisation, description if
// asked for, configuration, warming up. ctx bounds all of that, and so does Limits.Timeout.
func (f *Factory) boot(ctx context.Context, describe startStep) (_ *Instance, err error) {
	memory, err := snapshot.Blank(f.memoryLimit())
	if err != nil {
		return nil, err
	}
	s, err := f.instantiate(ctx, memory)
	if err != nil {
		return nil, err
	}
	b := deadline.New(ctx, f.Limits.Timeout)
	defer b.Release()
	for _, do := range []startStep{writeData, initialize, describe, configure, warm} {
		if do == nil {
			continue
		}
		if err := do(b, s); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	if s.fake != nil {
		s.fake.started()
	}
	return s, nil
}

// writeData writes the data segments that were taken out of the module.
func writeData(_ *deadline.Context, s *Instance) error {
	for i, segment := range s.factory.Module.Code.Data {
		if !s.inst.Memory().Write(segment.Offset, segment.Bytes) {
			return abi.Errorf(abi.CodeModule, "data segment %d does not fit the memory: %d bytes at %d", i, len(segment.Bytes), segment.Offset)
		}
	}
	return nil
}

// initialize runs the guest's own start, if it has one.
func initialize(ctx *deadline.Context, s *Instance) error {
	if s.factory.Module.Code.Start {
		if err := s.start(ctx, meter.ExportStart); err != nil {
			return err
		}
	}
	if !s.factory.Module.HasExport(abi.ExportInitialize) {
		return nil
	}
	return s.start(ctx, abi.ExportInitialize)
}

// configure hands the configuration to guests that want it.
func configure(ctx *deadline.Context, s *Instance) error {
	if !s.factory.Host.Manifest().Implements(abi.OpConfigure) {
		return nil
	}
	c := s.factory.Host.NewCall(abi.OpConfigure, &abi.Request{Config: s.factory.Values, HostMinor: abi.Minor}, nil)
	if err := s.run(ctx, c); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

// warm lets the guest writeData its caches before all others start from what it leaves.
func warm(ctx *deadline.Context, s *Instance) error {
	if !s.factory.Module.HasExport(abi.ExportWarm) {
		return nil
	}
	return s.start(ctx, abi.ExportWarm)
}

// captureImage makes the image all instances start from. A guest that has changed what no image holds while it started gets
// none: each of its instances is booted.
func (f *Factory) captureImage(s *Instance) error {
	if s.dirty.Get() != 0 {
		return nil
	}
	image, err := snapshot.New(s.memory.Bytes(), snapshot.Config{Limit: f.memoryLimit(), Idle: f.Limits.Calls, Reserve: f.reserve})
	if err != nil {
		return fmt.Errorf("image: %w", err)
	}
	f.image = image
	for _, g := range s.globals {
		f.globals = append(f.globals, g.Get())
	}
	if s.fake != nil {
		f.now = s.fake.now
	}
	return nil
}

// New makes an instance from the image, or boots one where there is none.
func (f *Factory) New(ctx context.Context) (_ *Instance, err error) {
	if f.image == nil {
		return f.boot(ctx, nil)
	}
	memory, err := f.image.Memory()
	if err != nil {
		return nil, err
	}
	s, err := f.instantiate(ctx, memory)
	if err != nil {
		return nil, err
	}
	s.restore()
	return s, nil
}
