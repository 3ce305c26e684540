package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/meter"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// A sandbox is one instance and what it is doing. It belongs to one goroutine at a time.
type sandbox struct {
	// fixed at creation
	module  *Module
	memory  *snapshot.Memory
	inst    engine.Instance
	resize  func() error    // of inst
	fuel    engine.Global   // what is left of the slice granted last; see meter
	depth   engine.Global   // bytes of stack left
	dirty   engine.Global   // not 0 once the guest has changed what cannot be put back
	globals []engine.Global // the guest's own

	seat    *seat     // whose instance it is; nil for nobody's
	ctx     *bounded  // of call
	call    call      // what host functions work for
	request []byte    // of call; the next one takes its place
	stack   [2]uint64 // of call: parameters, then results
	broken  bool      // not to be used again
	resting bool      // gave back what it keeps for its next call
	used    time.Time // when its last call began
}

// open makes an instance over memory, which it takes over, also when it fails.
func (m *Module) open(ctx context.Context, memory *snapshot.Memory) (*sandbox, error) {
	s := &sandbox{module: m, memory: memory, used: time.Now()}
	inst, err := m.instantiate(ctx, s)
	if err != nil {
		return nil, errors.Join(err, memory.Release())
	}
	s.inst, s.resize = inst, inst.Resize
	s.fuel, s.depth, s.dirty = inst.Global(meter.ExportFuel), inst.Global(meter.ExportDepth), inst.Global(meter.ExportDirty)
	for _, name := range m.code.Globals {
		s.globals = append(s.globals, inst.Global(name))
	}
	for _, g := range append([]engine.Global{s.fuel, s.depth, s.dirty}, s.globals...) {
		if g == nil {
			return nil, errors.Join(errors.New("a global of the metered module is missing"), s.close())
		}
	}
	return s, nil
}

func (m *Module) instantiate(ctx context.Context, s *sandbox) (_ engine.Instance, err error) {
	defer contain(&err)
	return m.compiled.Instantiate(ctx, s, s.memory)
}

// close releases the instance and its memory.
func (s *sandbox) close() error { return errors.Join(s.inst.Close(), s.memory.Release()) }

// run makes the guest do one operation.
func (s *sandbox) run(ctx *bounded, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	s.request = req.Append(s.request[:0])
	if len(s.request) > abi.MaxRequest {
		s.request = nil
		return nil, abi.Errorf(abi.CodeInvalidParams, "the request has more than the %d bytes that are allowed", abi.MaxRequest)
	}
	reply := new(abi.Reply)
	c := call{module: s.module, op: op, request: s.request, reply: reply, sink: sink, limit: req.Limit, serving: true}
	c.merger = abi.Merger{Reply: reply, MaxItems: s.module.cfg.Limits.Items, To: emission{&s.call}}
	s.stack = [2]uint64{uint64(op), uint64(len(s.request))}
	if err := s.enter(ctx, c, abi.ExportCall, s.stack[:]); err != nil {
		return nil, err
	}
	if err := s.call.verdict(abi.FromGuest(uint32(s.stack[0]))); err != nil {
		return nil, err
	}
	return reply, nil
}

// start runs an export that is not an operation.
func (s *sandbox) start(ctx *bounded, export string, stack ...uint64) error {
	if err := s.enter(ctx, call{module: s.module, op: abi.OpDescribe}, export, stack); err != nil {
		return fmt.Errorf("%s: %w", export, err)
	}
	return nil
}

// enter lets the guest do c by running an export. A guest that did not come back by itself leaves s halfway through.
func (s *sandbox) enter(ctx *bounded, c call, export string, stack []uint64) (err error) {
	s.ctx, s.call, s.used, s.resting = ctx, c, ctx.began, false
	s.memory.Arm()
	s.call.deadline = ctx.deadline
	s.fuel.Set(s.call.grant(0))
	s.depth.Set(uint64(s.module.cfg.Limits.Stack))
	err = s.callEngine(ctx, export, stack)
	s.call.flushOutput()
	s.call.fuel = s.call.spent(s.fuel.Get())
	if err != nil {
		s.call.stopped = true
		return s.classify(err)
	}
	return nil
}

func (s *sandbox) callEngine(ctx context.Context, export string, stack []uint64) (err error) {
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
	s.restoreGlobals()
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
func (s *sandbox) forget() { s.ctx, s.call = nil, call{} }

var errDirty = errors.New("the guest has changed what cannot be put back, as a table")

func (s *sandbox) restoreGlobals() {
	for i, g := range s.globals {
		g.Set(s.module.globals[i])
	}
}
