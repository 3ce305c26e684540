package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/meter"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// A sandbox is one instance and what it is doing. It belongs to one goroutine at a time.
type sandbox struct {
	// fixed at creation
	guests  *local
	memory  *snapshot.Memory
	inst    engine.Instance
	paid    paidMemory      // of inst
	resize  func() error    // of inst
	fuel    engine.Global   // what is left of the slice granted last; see meter
	depth   engine.Global   // bytes of stack left
	dirty   engine.Global   // not 0 once the guest has changed what cannot be put back
	globals []engine.Global // the guest's own
	virtual *virtual        // the world the guest sees; nil for the real one

	seat    *seat     // whose instance it is; nil for nobody's
	broken  bool      // not to be used again
	stopped bool      // the last export did not come back by itself
	spent   uint64    // fuel, by all its calls
	resting bool      // gave back what it keeps for its next call
	began   time.Time // its last call

	execution           // of the export that runs; zero while none does
	room      []byte    // keeps the memory of requests for the next one; without bytes while no export runs
	stack     [2]uint64 // parameters of the export that runs, then its results
}

// An execution is all that a sandbox knows of a call. It lasts for as long as one export runs, so that neither a guest nor
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
func (l *local) instantiate(ctx context.Context, memory *snapshot.Memory) (*sandbox, error) {
	s := &sandbox{guests: l, memory: memory, virtual: l.newVirtual(), began: time.Now()}
	inst, err := l.newInstance(ctx, s)
	if err != nil {
		return nil, errors.Join(err, memory.Release())
	}
	s.inst, s.resize, s.paid = inst, inst.Resize, paidMemory{s, inst.Memory()}
	s.fuel, s.depth, s.dirty = inst.Global(meter.ExportFuel), inst.Global(meter.ExportDepth), inst.Global(meter.ExportDirty)
	for _, name := range l.Code.Globals {
		s.globals = append(s.globals, inst.Global(name))
	}
	for _, g := range append([]engine.Global{s.fuel, s.depth, s.dirty}, s.globals...) {
		if g == nil {
			return nil, errors.Join(errors.New("a global of the metered module is missing"), s.close())
		}
	}
	return s, nil
}

func (l *local) newInstance(ctx context.Context, s *sandbox) (_ engine.Instance, err error) {
	defer contain(&err)
	return l.compiled.Instantiate(ctx, s, s.memory)
}

// close releases the instance and its memory.
func (s *sandbox) close() error { return errors.Join(s.inst.Close(), s.memory.Release()) }

// run makes the guest do one operation.
func (s *sandbox) run(ctx *deadline.Context, c *guest.Call) error {
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
func (s *sandbox) encode(c *guest.Call) (_ []byte, err error) {
	s.room, err = c.Encode(s.room[:0])
	return s.room, err
}

// start runs an export that is not an operation: there is no request to take.
func (s *sandbox) start(ctx *deadline.Context, export string, params ...uint64) error {
	if _, err := s.enter(execution{ctx: ctx, call: s.guests.Host.NewLogOnlyCall(abi.OpDescribe)}, export, params...); err != nil {
		return fmt.Errorf("%s: %w", export, err)
	}
	return nil
}

// seed tells guests that want to know a number nobody can foresee.
func (s *sandbox) seed(ctx *deadline.Context) error {
	if !s.guests.HasExport(abi.ExportSeed) {
		return nil
	}
	return s.start(ctx, abi.ExportSeed, s.unforeseeable())
}

// enter runs an export with at most two parameters and one result. A guest that did not come back by itself leaves s
// halfway through.
func (s *sandbox) enter(e execution, export string, params ...uint64) (result uint64, err error) {
	s.execution = e
	defer s.leave()
	s.began, s.resting, s.stopped = e.ctx.Began(), false, false
	e.call.SetDeadline(e.ctx)
	s.memory.Arm()
	s.fuel.Set(s.grant(0))
	s.depth.Set(uint64(s.guests.Limits.Stack))
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
func (s *sandbox) leave() {
	s.execution, s.stack = execution{}, [2]uint64{}
	s.erase()
}

// erase overwrites the request that was encoded last.
func (s *sandbox) erase() {
	clear(s.room)
	s.room = s.room[:0]
}

// callEngine is where all is written that the guest's memory gets between two resets.
func (s *sandbox) callEngine(ctx context.Context, export string, stack []uint64) (err error) {
	s.memory.Enter()
	defer s.memory.Leave()
	defer s.contain(&err)
	return s.inst.Call(ctx, export, stack)
}

// reset puts the instance back to how it was when it was made from the image.
func (s *sandbox) reset() error {
	if s.broken {
		return errors.New("the instance is broken")
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

// rest gives back what is kept to make the next call quick.
func (s *sandbox) rest() error {
	if r, ok := s.inst.(engine.Rester); ok {
		r.Rest()
	}
	s.resting = true
	return s.memory.Trim()
}

var errDirty = errors.New("the guest has changed what cannot be put back, as a table")

// restore puts back what is of the image beside memory.
func (s *sandbox) restore() {
	for i, g := range s.globals {
		g.Set(s.guests.globals[i])
	}
	if s.virtual != nil {
		s.virtual.restore(s.guests.now)
	}
}
