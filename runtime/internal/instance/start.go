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

// boot makes an instance without an image: memory and data of the module, its start function, initialisation,
// description if requested, configuration, warming up. ctx and Limits.Timeout bound it.
func (f *Factory) boot(ctx context.Context, describe startStep) (_ *Instance, err error) {
	if !f.Module.HasData() {
		return nil, errors.New("the module was loaded without the data of its memory, and no image has that")
	}
	memory, err := snapshot.Blank(f.memoryLimit(), f.reservation())
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

// writeData writes the data segments that the meter took out of the module.
func writeData(_ *deadline.Context, s *Instance) error {
	for i, segment := range s.factory.Module.Code.Data {
		if !s.inst.Memory().Write(segment.Offset, segment.Bytes) {
			return abi.Errorf(abi.CodeModule, "data segment %d does not fit the memory: %d bytes at %d", i, len(segment.Bytes), segment.Offset)
		}
	}
	return nil
}

// initialize runs the guest's own start functions, if it has any.
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

// configure passes the configuration to guests that implement that.
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

// warm runs the guest's export for filling caches, before the image is made.
func warm(ctx *deadline.Context, s *Instance) error {
	if !s.factory.Module.HasExport(abi.ExportWarm) {
		return nil
	}
	return s.start(ctx, abi.ExportWarm)
}

// captureImage makes the image from which all instances start. There is none if the guest, while starting, has changed
// state that no image holds: then each instance is booted.
func (f *Factory) captureImage(s *Instance) error {
	if s.dirty.Get() != 0 {
		return nil
	}
	image, err := snapshot.NewOf(s.memory, f.imageConfig())
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
	f.noteState()
	return nil
}

// New makes an instance from the image, or boots one if there is none.
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
