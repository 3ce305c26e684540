package preinit

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// A run is one call of the function.
type run struct {
	Function
	ctx   context.Context
	fuel  engine.Global
	reply abi.Reply
}

func (r *run) call(inst engine.Instance) error {
	r.fuel = inst.Global(meter.ExportFuel)
	r.fuel.Set(fuelSlice)
	inst.Global(meter.ExportDepth).Set(maxStack)
	stack := []uint64{uint64(len(r.Input))}
	if err := inst.Call(r.ctx, r.Export, stack); err != nil {
		if int32(inst.Global(meter.ExportDepth).Get()) < 0 {
			return engine.ErrStack
		}
		return crash(err)
	}
	if code := abi.Code(uint32(stack[0])); code != abi.CodeOK {
		return r.failure(code)
	}
	return nil
}

// crash returns what is known of an error of the engine, on one line.
func crash(err error) error {
	var trap *engine.Trap
	var stopped engine.Stop
	switch {
	case errors.As(err, &stopped):
		return stopped.Err
	case errors.As(err, &trap):
		return fmt.Errorf("it has crashed: %s", trap.Reason)
	}
	return err
}

func (r *run) failure(code abi.Code) error {
	e := &Failure{Code: code, Message: "it failed with " + code.String()}
	if said := r.reply.Error; said != nil && said.Message != "" {
		e.Message = said.Message
	}
	return e
}

// hostFuncs returns all functions that a module may import. Most of them refuse every call.
func hostFuncs() []engine.HostFunc {
	fs := []engine.HostFunc{{Module: meter.ImportModule, Name: meter.ImportTick, Call: tick}}
	for _, i := range instance.Imports() {
		f := engine.HostFunc{Module: i.Module, Name: i.Name, Type: i.Type, Call: refuse(i.Module + "." + i.Name)}
		if own := allowed[i.Name]; own != nil && i.Module == abi.ImportModule {
			f.Call = own
		}
		fs = append(fs, f)
	}
	return fs
}

type hostFunc = func(ctx context.Context, mem engine.Memory, host any, stack []uint64)

// allowed has the functions that do not refuse, by their names.
var allowed = map[string]hostFunc{abi.ImportTake: take, abi.ImportEmit: emit, abi.ImportLog: logText}

func refuse(name string) hostFunc {
	return func(context.Context, engine.Memory, any, []uint64) {
		stop(fmt.Errorf("it has called %s: while it is built a provider cannot call the host", name))
	}
}

func stop(err error) { panic(engine.Stop{Err: err}) }

// tick: () -> ()
func tick(_ context.Context, _ engine.Memory, host any, _ []uint64) {
	r := host.(*run)
	if r.ctx.Err() != nil {
		stop(context.Cause(r.ctx))
	}
	r.fuel.Set(r.fuel.Get() + fuelSlice)
}

var errPointer = errors.New("it has passed a pointer that is out of range")

// read returns the guest's bytes at ptr, or stops the guest.
func read(mem engine.Memory, ptr, n uint64) []byte {
	p, ok := mem.Read(uint32(ptr), uint32(n))
	if !ok {
		stop(errPointer)
	}
	return p
}

// take: (channel, dst, off, len i32) -> (copied i32). All channels but that of requests are empty.
func take(_ context.Context, mem engine.Memory, host any, stack []uint64) {
	var input []byte
	if uint32(stack[0]) == abi.ChannelRequest {
		input = host.(*run).Input
	}
	input = input[min(uint64(uint32(stack[2])), uint64(len(input))):]
	input = input[:min(uint64(uint32(stack[3])), uint64(len(input)))]
	if !mem.Write(uint32(stack[1]), input) {
		stop(errPointer)
	}
	stack[0] = uint64(len(input))
}

// emit: (ptr, len i32) -> (signal i32), of a frame with an Error and nothing else
func emit(_ context.Context, mem engine.Memory, host any, stack []uint64) {
	frame := read(mem, stack[0], stack[1])
	if err := host.(*run).reply.Merge(frame, 0, refusedContent{}); err != nil {
		stop(err)
	}
	stack[0] = uint64(abi.SignalMore)
}

// refusedContent is where contents go.
type refusedContent struct{}

// Content implements [abi.Emission].
func (refusedContent) Content(*abi.Content) error { return errors.New("it has emitted a content") }

// Progress implements [abi.Emission].
func (refusedContent) Progress(abi.Progress) {}

// Continue implements [abi.Emission].
func (refusedContent) Continue() error { return nil }

// logText: (level, ptr, len i32) -> ()
func logText(_ context.Context, mem engine.Memory, host any, stack []uint64) {
	text := read(mem, stack[1], stack[2])
	if log := host.(*run).Log; log != nil {
		log(string(text))
	}
}
