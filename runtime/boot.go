package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/meter"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// A step is a part of starting an instance.
type step = func(ctx *deadline.Context, s *sandbox) error

// boot makes an instance from nothing: memory as the module says, its start function, initialisation, description if
// asked for, configuration, warming up. ctx bounds all of that, and so does Limits.Timeout.
func (l *local) boot(ctx context.Context, describe step) (_ *sandbox, err error) {
	memory, err := snapshot.Blank(l.memoryLimit())
	if err != nil {
		return nil, err
	}
	s, err := l.instantiate(ctx, memory)
	if err != nil {
		return nil, err
	}
	b := deadline.New(ctx, l.Limits.Timeout)
	defer b.Release()
	for _, do := range []step{fill, initialize, describe, configure, warm} {
		if do == nil {
			continue
		}
		if err := do(b, s); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	if s.virtual != nil {
		s.virtual.started()
	}
	return s, nil
}

// fill writes the data segments that were taken out of the module.
func fill(_ *deadline.Context, s *sandbox) error {
	for i, segment := range s.guests.Code.Data {
		if !s.inst.Memory().Write(segment.Offset, segment.Bytes) {
			return abi.Errorf(abi.CodeModule, "data segment %d does not fit the memory: %d bytes at %d", i, len(segment.Bytes), segment.Offset)
		}
	}
	return nil
}

// initialize runs the guest's own start, if it has one.
func initialize(ctx *deadline.Context, s *sandbox) error {
	if s.guests.Code.Start {
		if err := s.start(ctx, meter.ExportStart); err != nil {
			return err
		}
	}
	if !s.guests.HasExport(abi.ExportInitialize) {
		return nil
	}
	return s.start(ctx, abi.ExportInitialize)
}

// configure hands the configuration to guests that want it.
func configure(ctx *deadline.Context, s *sandbox) error {
	if !s.guests.Host.Manifest().Implements(abi.OpConfigure) {
		return nil
	}
	c := s.guests.Host.NewCall(abi.OpConfigure, &abi.Request{Config: s.guests.Values, HostMinor: abi.Minor}, nil)
	if err := s.run(ctx, c); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

// warm lets the guest fill its caches before all others start from what it leaves.
func warm(ctx *deadline.Context, s *sandbox) error {
	if !s.guests.HasExport(abi.ExportWarm) {
		return nil
	}
	return s.start(ctx, abi.ExportWarm)
}

// snap makes the image all instances start from. A guest that has changed what no image holds while it started gets
// none: each of its instances is booted.
func (l *local) snap(s *sandbox) error {
	if s.dirty.Get() != 0 {
		return nil
	}
	image, err := snapshot.New(s.memory.Bytes(), snapshot.Config{Limit: l.memoryLimit(), Idle: l.Limits.Calls, Reserve: l.reserve})
	if err != nil {
		return fmt.Errorf("image: %w", err)
	}
	l.image = image
	for _, g := range s.globals {
		l.globals = append(l.globals, g.Get())
	}
	if s.virtual != nil {
		l.now = s.virtual.now
	}
	return nil
}

// clone makes an instance from the image, or boots one where there is none.
func (l *local) clone(ctx context.Context) (_ *sandbox, err error) {
	if l.image == nil {
		return l.boot(ctx, nil)
	}
	memory, err := l.image.Memory()
	if err != nil {
		return nil, err
	}
	s, err := l.instantiate(ctx, memory)
	if err != nil {
		return nil, err
	}
	s.restore()
	return s, nil
}
