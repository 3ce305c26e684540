package instance

import (
	"context"
	"math"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/wasi"
)

// Only this file combines guests' offsets and lengths with host memory.

// hostFuncs returns all functions that a metered guest may import.
func hostFuncs() []engine.HostFunc { return append(withRecover(guestFuncs()), tickFunc()) }

// guestFuncs returns all functions that a guest may import.
func guestFuncs() []engine.HostFunc {
	types := abi.Imports()
	define := func(name string, f func(ctx context.Context, mem engine.Memory, s *Instance, stack []uint64)) engine.HostFunc {
		return engine.HostFunc{
			Module: abi.ImportModule, Name: name, Type: types[name],
			Call: func(ctx context.Context, mem engine.Memory, host any, stack []uint64) {
				f(ctx, mem, host.(*Instance), stack)
			},
		}
	}
	return append(wasi.Functions(),
		define(abi.ImportTake, take),
		define(abi.ImportEmit, emit),
		define(abi.ImportBody, body),
		define(abi.ImportCall, service),
		define(abi.ImportLog, logLine),
		define(abi.ImportInfo, info),
		// AssemblyScript calls it when a guest aborts.
		engine.HostFunc{
			Module: "env", Name: "abort", Type: abi.Signature{Params: []abi.ValueType{abi.I32, abi.I32, abi.I32, abi.I32}},
			Call: func(context.Context, engine.Memory, any, []uint64) {
				panic(engine.Stop{Err: abi.Errorf(abi.CodeTrap, "the provider crashed")})
			},
		},
	)
}

// Imports returns the functions that a guest may import.
func Imports() []admit.Import {
	var imports []admit.Import
	for _, f := range guestFuncs() {
		imports = append(imports, admit.Import{Module: f.Module, Name: f.Name, Type: f.Type})
	}
	return imports
}

// read returns the guest's bytes at ptr, or stops the guest.
func read(mem engine.Memory, ptr, n uint64) []byte {
	p, ok := mem.Read(uint32(ptr), uint32(n))
	if !ok {
		panic(engine.Stop{Err: abi.Errorf(abi.CodeProtocol, "pointer out of range: %d bytes at %d", uint32(n), uint32(ptr))})
	}
	return p
}

// channel returns the bytes of a channel.
func (s *Instance) channel(id uint32) []byte {
	switch id {
	case abi.ChannelRequest:
		return s.request
	case abi.ChannelResponse:
		return s.response.Message
	case abi.ChannelBody:
		return s.response.Body
	}
	return nil
}

// services returns the bitmap of services that a guest may call.
func (f *Factory) services() uint64 {
	bits := uint64(1)<<abi.ServiceNotifyUpdated | uint64(1)<<abi.ServiceNotifyList
	for id := range f.Services {
		bits |= 1 << id
	}
	return bits
}

// take: (channel, dst, off, len) -> copied
func take(_ context.Context, mem engine.Memory, s *Instance, stack []uint64) {
	src := s.channel(uint32(stack[0]))
	src = src[min(uint64(uint32(stack[2])), uint64(len(src))):]
	src = src[:min(uint64(uint32(stack[3])), uint64(len(src)))]
	if !mem.Write(uint32(stack[1]), src) {
		panic(engine.Stop{Err: abi.Errorf(abi.CodeProtocol, "pointer out of range: %d bytes to %d", len(src), uint32(stack[1]))})
	}
	stack[0] = uint64(len(src))
}

// emit: (ptr, len) -> signal
func emit(_ context.Context, mem engine.Memory, s *Instance, stack []uint64) {
	frame := read(mem, stack[0], stack[1])
	s.payMessage(len(frame))
	reports := s.call.Reports()
	stack[0] = uint64(uint32(s.call.Emit(frame)))
	s.hostCalls += s.call.Reports() - reports // each report counts as a call of the host
}

// body: (ptr, len) -> signal
func body(_ context.Context, mem engine.Memory, s *Instance, stack []uint64) {
	p := read(mem, stack[0], stack[1])
	s.memory.StopTracking()
	stack[0] = uint64(uint32(s.call.Body(p)))
}

// service: (service, ptr, len) -> code<<32 | response_len
func service(ctx context.Context, mem engine.Memory, s *Instance, stack []uint64) {
	id, request := abi.Service(uint32(stack[0])), read(mem, stack[1], stack[2])
	s.payMessage(len(request))
	var code abi.Code
	s.waited = true
	if !s.call.RunsHere(id) {
		s.memory.StopTracking()
	}
	s.response, code = s.call.Service(ctx, id, request)
	stack[0] = uint64(code)<<32 | uint64(uint32(len(s.response.Message)))
}

// logLine: (level, ptr, len)
func logLine(ctx context.Context, mem engine.Memory, s *Instance, stack []uint64) {
	s.call.Log(ctx, guest.LevelOf(uint32(stack[0])), read(mem, stack[1], stack[2]))
}

// info: (id) -> value; 0 for an unknown id
func info(_ context.Context, _ engine.Memory, s *Instance, stack []uint64) {
	switch uint32(stack[0]) {
	case abi.InfoWallTime:
		stack[0] = s.System().Now(wasi.Realtime)
	case abi.InfoMonotonic:
		stack[0] = s.System().Now(wasi.Monotonic)
	case abi.InfoDeadline:
		stack[0] = uint64(s.left())
	case abi.InfoMinor:
		stack[0] = abi.Minor
	case abi.InfoMaxBody:
		stack[0] = min(s.factory.Limits.Output, math.MaxInt64)
	case abi.InfoServices:
		stack[0] = s.factory.services()
	default:
		stack[0] = 0
	}
}

// Output receives text that the guest writes to standard output (1) or error (2). Whole lines go to the log, never to
// the host's own output.
func (s *Instance) Output(fd uint32, p []byte) { s.call.Output(s.ctx, int(fd)-1, p) }
