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

// An Instance is one live sandbox and what it is doing. It belongs to one goroutine at a time.
type Instance struct {
	// fixed at creation
	factory *Factory
	memory  *snapshot.Memory
	inst    engine.Instance
	paid    paidMemory      // of inst
	resize  func() error    // of inst
	fuel    engine.Global   // what is left of the slice of fuel granted last; see meter
	depth   engine.Global   // bytes of stack left
	dirty   engine.Global   // not 0 once the guest has changed state that cannot be reset
	globals []engine.Global // the guest's own
	fake    *fake           // the system the guest sees; nil for the real one

	unusable bool      // not to be used again
	stopped  bool      // the last export did not come back by itself
	spent    uint64    // fuel, by all its calls
	trimmed  bool      // gave back what it keeps for its next call
	began    time.Time // its last call

	execution           // of the export that runs; zero while none does
	room      []byte    // keeps the memory of requests for the next one; without bytes while no export runs
	stack     [2]uint64 // parameters of the export that runs, then its results
}

// An execution is all that an Instance knows of a call. It lasts for as long as one export runs, so that neither a guest nor
// the host finds anything of one call in the next.
type execution struct {
	ctx      *deadline.Context
	call     *guest.Call
	request  []byte              // for the guest to take; of an operation, and empty for any other export
	response capability.Response // to the last service call
	asked    int                 // calls of the host
	looked   int                 // how many those were when the clock was looked at
	granted  uint64              // fuel
	waited   bool                // for a service, since the clock was looked at
}

// instantiate makes an instance over memory, which it takes over, also when it fails.
func (f *Factory) instantiate(ctx context.Context, memory *snapshot.Memory) (*Instance, error) {
	s := &Instance{factory: f, memory: memory, fake: f.newFake(), began: time.Now()}
	inst, err := f.newInstance(ctx, s)
	if err != nil {
		return nil, errors.Join(err, memory.Release())
	}
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

// Run makes the guest do one operation of a client, which it prepares for first.
func (s *Instance) Run(ctx *deadline.Context, c *guest.Call) error {
	if err := s.begin(c); err != nil {
		return err
	}
	if err := s.seed(ctx); err != nil {
		return err
	}
	return s.run(ctx, c)
}

// LastUsed is when its last call began.
func (s *Instance) LastUsed() time.Time { return s.began }

// IsTrimmed reports whether Trim was called since the last call.
func (s *Instance) IsTrimmed() bool { return s.trimmed }

// IsStopped reports whether the last call did not come back by itself: the guest may be halfway through something.
func (s *Instance) IsStopped() bool { return s.unusable || s.stopped }

// run makes the guest do one operation.
func (s *Instance) run(ctx *deadline.Context, c *guest.Call) error {
	request, err := s.encode(c)
	if err != nil {
		return err
	}
	code, err := s.enter(execution{ctx: ctx, call: c, request: request}, abi.ExportCall, uint64(c.Op), uint64(len(request)))
	if err != nil {
		return err
	}
	return c.Result(abi.FromGuest(uint32(code)))
}

// encode gives the request of c, which is valid until the next export has run.
func (s *Instance) encode(c *guest.Call) (_ []byte, err error) {
	s.room, err = c.Encode(s.room[:0])
	return s.room, err
}

// start runs an export that is not an operation: there is no request to take.
func (s *Instance) start(ctx *deadline.Context, export string, params ...uint64) error {
	if _, err := s.enter(execution{ctx: ctx, call: s.factory.Host.NewLogOnlyCall(abi.OpDescribe)}, export, params...); err != nil {
		return fmt.Errorf("%s: %w", export, err)
	}
	return nil
}

// seed gives guests that implement it a random number.
func (s *Instance) seed(ctx *deadline.Context) error {
	if !s.factory.Module.HasExport(abi.ExportSeed) {
		return nil
	}
	return s.start(ctx, abi.ExportSeed, s.randomSeed())
}

// enter runs an export with at most two parameters and one result. A guest that did not come back by itself leaves s
// halfway through.
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
	spent := s.granted - s.fuel.Get()
	s.spent += spent
	e.call.SetUsage(spent, s.asked)
	if err != nil {
		s.stopped = true
		return 0, s.classify(err)
	}
	return s.stack[0], nil
}

// leave ends the execution: nothing of it is left in s.
func (s *Instance) leave() {
	s.execution, s.stack = execution{}, [2]uint64{}
	s.erase()
}

// erase overwrites the request that was encoded last.
func (s *Instance) erase() {
	clear(s.room)
	s.room = s.room[:0]
}

// callEngine is where all is written that the guest's memory gets between two resets.
func (s *Instance) callEngine(ctx context.Context, export string, stack []uint64) (err error) {
	s.memory.BeginTracking()
	defer s.memory.EndTracking()
	defer s.recoverPanic(&err)
	return s.inst.Call(ctx, export, stack)
}

// Reset puts the instance back to how it was when it was made from the image.
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

// Trim gives back what is kept to make the next call quick.
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
