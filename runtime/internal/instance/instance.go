package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// An Instance is one live sandbox and its state. It belongs to one goroutine at a time.
type Instance struct {
	// fixed at creation
	factory     *Factory
	memory      *snapshot.Memory
	inst        engine.Instance
	paid        paidMemory      // of inst
	resize      func() error    // of inst
	fuel        engine.Global   // the rest of the slice of fuel granted last; see meter
	depth       engine.Global   // bytes of stack left
	dirty       engine.Global   // not 0 once the guest has changed state that cannot be reset
	globals     []engine.Global // the guest's own
	keepsThread bool            // see [engine.ThreadKeeper]
	fake        *fake           // the system the guest sees; nil for the real one

	unusable bool      // not to be used again
	stopped  bool      // the last export did not return by itself
	spent    uint64    // fuel, by all its calls
	trimmed  bool      // its memory for the next call was released
	began    time.Time // its last call

	execution           // of the export that runs; zero while none does
	room      []byte    // memory of requests, reused; without bytes while no export runs
	stack     [2]uint64 // parameters of the export that runs, then its results
}

// An execution has all state of a call. It lasts for one export, so that neither a guest nor the host finds anything of
// one call in the next.
type execution struct {
	ctx       *deadline.Context
	call      *guest.Call
	request   []byte              // that the guest may take; empty unless the export is an operation
	response  capability.Response // to the last service call
	hostCalls int                 // so far
	checkedAt int                 // hostCalls when the clock was last read
	fuelLimit uint64              // of the export
	granted   uint64              // fuel
	waited    bool                // for a service, since the clock was last read
}

// instantiate makes an instance over memory, which it owns from then on, also after an error.
func (f *Factory) instantiate(ctx context.Context, memory *snapshot.Memory) (*Instance, error) {
	s := &Instance{factory: f, memory: memory, fake: f.newFake(), began: time.Now()}
	inst, err := f.newInstance(ctx, s)
	if err != nil {
		return nil, errors.Join(err, memory.Release())
	}
	_, s.keepsThread = inst.(engine.ThreadKeeper)
	s.inst, s.resize, s.paid = inst, inst.Resize, paidMemory{s, inst.Memory()}
	s.fuel, s.depth, s.dirty = inst.Global(meter.ExportFuel), inst.Global(meter.ExportDepth), inst.Global(meter.ExportDirty)
	for _, name := range f.Module.Code.Globals {
		s.globals = append(s.globals, inst.Global(name))
	}
	for _, g := range append([]engine.Global{s.fuel, s.depth, s.dirty}, s.globals...) {
		if g == nil {
			return nil, errors.Join(errors.New("a global of the metered module is missing"), s.close())
		}
	}
	return s, nil
}

func (f *Factory) newInstance(ctx context.Context, s *Instance) (_ engine.Instance, err error) {
	defer recoverPanic(&err)
	return f.compiled.Instantiate(ctx, s, s.memory)
}

// close releases the instance and its memory.
func (s *Instance) close() error { return errors.Join(s.inst.Close(), s.memory.Release()) }

// Run runs one operation of a client, after preparing the guest for it.
func (s *Instance) Run(ctx *deadline.Context, c *guest.Call) error {
	if err := s.begin(c); err != nil {
		return err
	}
	if err := s.seed(ctx); err != nil {
		return err
	}
	return s.run(ctx, c)
}

// LastUsed returns when the last call began.
func (s *Instance) LastUsed() time.Time { return s.began }

// IsTrimmed reports whether Trim was called since the last call.
func (s *Instance) IsTrimmed() bool { return s.trimmed }

// IsStopped reports whether the last call did not return by itself: guest state may be inconsistent.
func (s *Instance) IsStopped() bool { return s.unusable || s.stopped }

// run runs one operation.
func (s *Instance) run(ctx *deadline.Context, c *guest.Call) error {
	request, err := s.encode(c)
	if err != nil {
		return err
	}
	e := execution{ctx: ctx, call: c, request: request, fuelLimit: s.factory.Limits.Fuel}
	code, err := s.enter(e, abi.ExportCall, uint64(c.Op), uint64(len(request)))
	if err != nil {
		s.locate(ctx, c, err)
		return err
	}
	return c.Result(abi.FromGuest(uint32(code)))
}

// encode returns the encoded request of c, which is valid until the next export has run.
func (s *Instance) encode(c *guest.Call) (_ []byte, err error) {
	s.room, err = c.Encode(s.room[:0])
	return s.room, err
}

// start runs an export that is not an operation, without a request.
func (s *Instance) start(ctx *deadline.Context, export string, params ...uint64) error {
	e := execution{ctx: ctx, call: s.factory.Host.NewLogOnlyCall(abi.OpDescribe), fuelLimit: s.factory.Limits.Fuel}
	if _, err := s.enter(e, export, params...); err != nil {
		return fmt.Errorf("%s: %w", export, err)
	}
	return nil
}

// seed passes a random number to guests that export the function for it.
func (s *Instance) seed(ctx *deadline.Context) error {
	if !s.factory.Module.HasExport(abi.ExportSeed) {
		return nil
	}
	return s.start(ctx, abi.ExportSeed, s.randomSeed())
}

// enter runs an export with at most two parameters and one result. If it does not return by itself, s counts as
// stopped.
func (s *Instance) enter(e execution, export string, params ...uint64) (result uint64, err error) {
	s.execution = e
	defer s.leave()
	s.began, s.trimmed, s.stopped = e.ctx.Began(), false, false
	e.call.SetDeadline(e.ctx)
	s.memory.ClearRefused()
	s.fuel.Set(s.refuel(0))
	s.depth.Set(uint64(s.factory.Limits.Stack))
	copy(s.stack[:], params)
	err = s.callEngine(e.ctx, export, s.stack[:])
	e.call.FlushOutput(e.ctx)
	spent := s.spentNow()
	s.spent += spent
	e.call.SetUsage(spent, s.hostCalls, uint64(len(s.memory.Bytes())))
	if err != nil {
		s.stopped = true
		return 0, s.classify(err)
	}
	return s.stack[0], nil
}

// leave ends the execution and removes all of its state from s.
func (s *Instance) leave() {
	s.execution, s.stack = execution{}, [2]uint64{}
	s.erase()
}

// erase overwrites the request that was encoded last.
func (s *Instance) erase() {
	clear(s.room)
	s.room = s.room[:0]
}

// callEngine calls the engine. The guest's memory changes only here between two resets.
func (s *Instance) callEngine(ctx context.Context, export string, stack []uint64) (err error) {
	s.memory.BeginTracking()
	defer s.memory.EndTracking()
	defer s.recoverPanic(&err)
	return s.inst.Call(ctx, export, stack)
}

// Reset resets the instance to the image.
func (s *Instance) Reset() error {
	if s.factory.image == nil {
		return errNoImage
	}
	if s.unusable {
		return errors.New("the instance is unusable")
	}
	if s.dirty.Get() != 0 {
		return errDirty
	}
	if err := s.memory.Reset(s.resize); err != nil {
		return err
	}
	s.restore()
	return nil
}

// Trim releases memory that only makes the next call quicker.
func (s *Instance) Trim() error {
	if r, ok := s.inst.(engine.Trimmer); ok {
		r.Trim()
	}
	s.trimmed = true
	return s.memory.Trim()
}

var (
	errDirty   = errors.New("the guest has changed state that cannot be reset, as a table")
	errNoImage = errors.New("the guest has changed state that cannot be reset while it started")
)

// restore resets the globals to the image.
func (s *Instance) restore() {
	for i, g := range s.globals {
		g.Set(s.factory.globals[i])
	}
	if s.fake != nil {
		s.fake.restore(s.factory.now)
	}
}
