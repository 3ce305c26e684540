package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/meter"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// A sandbox is one instance and what it is doing. It belongs to one goroutine at a time.
type sandbox struct {
	// fixed at creation
	guests  *local
	memory  *snapshot.Memory
	inst    engine.Instance
	resize  func() error    // of inst
	fuel    engine.Global   // what is left of the slice granted last; see meter
	depth   engine.Global   // bytes of stack left
	dirty   engine.Global   // not 0 once the guest has changed what cannot be put back
	globals []engine.Global // the guest's own
	virtual *virtual        // the world the guest sees; nil for the real one

	seat    *seat     // whose instance it is; nil for nobody's
	broken  bool      // not to be used again
	spent   uint64    // fuel, by all its calls
	resting bool      // gave back what it keeps for its next call
	began   time.Time // its last call

	// of the call under way, or the last one
	ctx      *bounded
	call     *Call
	request  []byte // the next one takes its place
	response capability.Response
	stack    [2]uint64 // parameters, then results
	asked    int       // calls of the host
	granted  uint64    // fuel
	waited   bool      // for a service, since the clock was looked at
	stopped  bool      // the guest did not come back by itself
}

// instantiate makes an instance over memory, which it takes over, also when it fails.
func (l *local) instantiate(ctx context.Context, memory *snapshot.Memory) (*sandbox, error) {
	s := &sandbox{guests: l, memory: memory, virtual: l.newVirtual(), began: time.Now()}
	inst, err := l.newInstance(ctx, s)
	if err != nil {
		return nil, errors.Join(err, memory.Release())
	}
	s.inst, s.resize = inst, inst.Resize
	s.fuel, s.depth, s.dirty = inst.Global(meter.ExportFuel), inst.Global(meter.ExportDepth), inst.Global(meter.ExportDirty)
	for _, name := range l.code.Globals {
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
func (s *sandbox) run(ctx *bounded, c *Call) (err error) {
	if s.request, err = c.Encode(s.request[:0]); err != nil {
		return err
	}
	s.stack = [2]uint64{uint64(c.Op), uint64(len(s.request))}
	if err := s.enter(ctx, c, abi.ExportCall, s.stack[:]); err != nil {
		return err
	}
	return c.Answered(abi.FromGuest(uint32(s.stack[0])))
}

// start runs an export that is not an operation.
func (s *sandbox) start(ctx *bounded, export string, stack ...uint64) error {
	if err := s.enter(ctx, s.guests.module.silent(abi.OpDescribe), export, stack); err != nil {
		return fmt.Errorf("%s: %w", export, err)
	}
	return nil
}

// seed tells guests that want to know a number nobody can foresee.
func (s *sandbox) seed(ctx *bounded) error {
	if !s.guests.has(abi.ExportSeed) {
		return nil
	}
	return s.start(ctx, abi.ExportSeed, s.unforeseeable())
}

// enter lets the guest do c by running an export. A guest that did not come back by itself leaves s halfway through.
func (s *sandbox) enter(ctx *bounded, c *Call, export string, stack []uint64) (err error) {
	s.ctx, s.call, s.began, s.resting = ctx, c, ctx.began, false
	s.response, s.asked, s.granted, s.waited, s.stopped = capability.Response{}, 0, 0, false, false
	c.deadline = ctx.deadline
	s.memory.Arm()
	s.fuel.Set(s.grant(0))
	s.depth.Set(uint64(s.guests.Limits.Stack))
	err = s.callEngine(ctx, export, stack)
	c.flushOutput(ctx)
	spent := s.granted - s.fuel.Get()
	s.spent += spent
	c.Spent(spent, s.asked)
	if err != nil {
		s.stopped = true
		return s.classify(err)
	}
	return nil
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
	s.forget()
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

// forget lets go of what belongs to the last call.
func (s *sandbox) forget() { s.ctx, s.call, s.response = nil, nil, capability.Response{} }

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
