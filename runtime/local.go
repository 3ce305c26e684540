package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// InProcess runs guests in this process. Engine is required.
type InProcess struct {
	Engine engine.Engine
	// Compiled is called when a module is compiled, all files that running it takes are open, and nothing of the guest
	// has run. Nil for nothing.
	Compiled func() error
}

// Open implements [Runner].
func (r InProcess) Open(ctx context.Context, o *guest.Config) (guest.Guests, error) {
	l := &local{Config: o}
	if err := l.open(ctx, r); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// local guests are instances in this process.
type local struct {
	// fixed once they are open
	*guest.Config
	compiled engine.Module
	reserve  *snapshot.Reserve
	image    *snapshot.Image // nil when the guest has changed what no image holds while it started
	globals  []uint64        // of the image
	now      time.Duration   // of the image, since Determinism.Time
	started  Start
	keeper   keeper
}

func (l *local) open(ctx context.Context, r InProcess) error {
	compiled, err := r.Engine.Compile(ctx, l.Code.Binary, hostFuncs())
	if err != nil {
		return err // and compiled may be any engine's nil
	}
	l.compiled = compiled
	if l.reserve, err = snapshot.NewReserve(); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if r.Compiled != nil {
		if err := r.Compiled(); err != nil {
			return err
		}
	}
	return l.start(ctx)
}

// start boots the first instance, makes the image of it, and keeps it for the first call.
func (l *local) start(ctx context.Context) error {
	var ask step
	if !l.Packed() {
		ask = l.describe
	}
	began := time.Now()
	s, err := l.boot(ctx, ask)
	if err != nil {
		return err
	}
	l.started = Start{Fuel: s.spent, Took: time.Since(began)}
	if err := errors.Join(l.snap(s), s.close()); err != nil {
		return err
	}
	l.keeper = l.newKeeper()
	return nil
}

// describe asks the guest for its manifest.
func (l *local) describe(ctx *deadline.Context, s *sandbox) error {
	c := l.Host.NewCall(abi.OpDescribe, &abi.Request{HostMinor: abi.Minor}, nil)
	if err := s.run(ctx, c); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if c.Reply().Manifest == nil {
		return abi.Errorf(abi.CodeProtocol, "describe emitted no manifest")
	}
	return l.Learn(c.Reply().Manifest)
}

// Call implements [Guests].
func (l *local) Call(ctx context.Context, c *guest.Call) error {
	b, ok := ctx.(*deadline.Context)
	if !ok {
		b = deadline.New(ctx, l.Limits.Timeout)
		defer b.Release()
	}
	s, err := l.keeper.take(b, c.Request.Session)
	if err != nil {
		return err
	}
	defer l.keeper.give(s)
	if err := s.begin(c); err != nil {
		return err
	}
	if err := s.seed(b); err != nil {
		return err
	}
	return s.run(b, c)
}

// Settle implements [Guests].
func (l *local) Settle() { l.keeper.settle() }

// EndSession implements [Guests].
func (l *local) EndSession(session string) { l.keeper.end(session) }

// Started implements [Guests].
func (l *local) Started() Start { return l.started }

// Lane implements [Guests].
func (l *local) Lane() (lane guest.Lane, why string) {
	switch {
	case l.image == nil:
		return guest.LaneBoot, l.Code.CanDirty + ", and did so while it started"
	case l.Code.CanDirty != "":
		return guest.LaneReplace, l.Code.CanDirty
	}
	return guest.LaneReset, ""
}

// Close implements [Guests].
func (l *local) Close() error {
	var errs []error
	if l.keeper != nil {
		l.keeper.close()
	}
	if l.image != nil {
		errs = append(errs, l.image.Close())
	}
	if l.reserve != nil {
		errs = append(errs, l.reserve.Close())
	}
	if l.compiled != nil {
		errs = append(errs, l.compiled.Close())
	}
	return errors.Join(errs...)
}

func (l *local) discardAll(list []*sandbox, why error) {
	for _, s := range list {
		l.discard(s, why)
	}
}

// discard releases an instance, if there is one, that is not used again.
func (l *local) discard(s *sandbox, why error) {
	if s == nil {
		return
	}
	l.Logger.Debug("instance discarded", "why", guest.Truncate(why))
	if err := s.close(); err != nil {
		l.Logger.Warn("instance close failed", "err", guest.Truncate(err))
	}
}

// memoryLimit is the bytes of memory an instance may have, as the operator and the module say.
func (l *local) memoryLimit() uint64 {
	return min(l.Limits.Memory, uint64(l.Code.MaxPages)*engine.PageSize)
}
