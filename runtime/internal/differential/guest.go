package differential

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A guest is an instance of a metered module on one engine.
type guest struct {
	kind    engines.Kind
	module  engine.Module
	inst    engine.Instance // nil while it is made
	memory  *memory
	fuel    engine.Global
	depth   engine.Global
	globals []engine.Global
	ticks   int // of the call under way
}

// An outcome is how a call ended.
type outcome struct {
	results []uint64
	reason  string // of a trap
	fuel    uint64 // that is left
	ticks   int
}

func (o outcome) equal(p outcome) bool {
	return slices.Equal(o.results, p.results) && o.reason == p.reason && o.fuel == p.fuel && o.ticks == p.ticks
}

func (o outcome) String() string {
	return fmt.Sprintf("%x, trap %q, fuel %d, %d ticks", o.results, o.reason, int64(o.fuel), o.ticks)
}

var errTick = errors.New("the fuel is used up")

// start makes an instance, and writes its data.
func start(ctx context.Context, kind engines.Kind, e engine.Engine, code *meter.Module) (*guest, error) {
	g := &guest{kind: kind}
	m, err := e.Compile(ctx, code.Binary, hostFuncs())
	if err != nil {
		return nil, err
	}
	g.module = m
	if g.memory, err = newMemory(code.MaxPages, reservation(m)); err != nil {
		return nil, errors.Join(err, g.close())
	}
	if g.inst, err = m.Instantiate(ctx, g, g.memory); err != nil {
		return nil, errors.Join(err, g.close())
	}
	g.fuel, g.depth = g.inst.Global(meter.ExportFuel), g.inst.Global(meter.ExportDepth)
	for _, name := range code.Globals {
		g.globals = append(g.globals, g.inst.Global(name))
	}
	for i, s := range code.Data {
		if !g.inst.Memory().Write(s.Offset, s.Bytes) {
			return nil, errors.Join(fmt.Errorf("%w: data segment %d does not fit", ErrRefused, i), g.close())
		}
	}
	return g, nil
}

func (g *guest) close() error {
	var err error
	if g.inst != nil {
		err = g.inst.Close()
	}
	if g.memory != nil {
		err = errors.Join(err, g.memory.Release())
	}
	return errors.Join(err, g.module.Close())
}

func (g *guest) call(ctx context.Context, export string, sig abi.Signature, args []uint64) outcome {
	g.fuel.Set(fuelOfCall)
	g.depth.Set(stackOfCall)
	g.ticks = 0
	stack := make([]uint64, max(len(sig.Params), len(sig.Results)))
	copy(stack, args)
	err := g.inst.Call(ctx, export, stack)
	o := outcome{fuel: g.fuel.Get(), ticks: g.ticks}
	var trap *engine.Trap
	switch {
	case errors.As(err, &trap):
		o.reason = trap.Reason
	case err != nil:
		o.reason = err.Error()
	default:
		o.results = numbers(stack, sig.Results)
	}
	return o
}

// numbers returns results without the bits that have no meaning, and with one NaN for all.
func numbers(stack []uint64, types []abi.ValueType) []uint64 {
	for i, t := range types {
		switch t {
		case abi.I32:
			stack[i] = uint64(uint32(stack[i]))
		case abi.ValueType(wasm.F32):
			if stack[i] = uint64(uint32(stack[i])); stack[i]&(1<<31-1) > 0x7f80_0000 {
				stack[i] = 0x7fc0_0000
			}
		case abi.ValueType(wasm.F64):
			if math.IsNaN(math.Float64frombits(stack[i])) {
				stack[i] = math.Float64bits(math.NaN())
			}
		}
	}
	return stack[:len(types)]
}

// hostFuncs are the functions that modules may import: ticks, and those of imports, which do nothing.
func hostFuncs() []engine.HostFunc {
	fs := []engine.HostFunc{{Module: meter.ImportModule, Name: meter.ImportTick, Call: func(_ context.Context, _ engine.Memory, host any, _ []uint64) {
		host.(*guest).ticks++
		panic(engine.Stop{Err: errTick})
	}}}
	for _, f := range imports() {
		fs = append(fs, engine.HostFunc{Module: f.Module, Name: f.Name, Type: f.Type, Call: func(context.Context, engine.Memory, any, []uint64) {}})
	}
	return fs
}

// imports are the functions that modules of the specification's tests import.
func imports() (all []admit.Import) {
	i32, i64, f32, f64 := abi.I32, abi.I64, abi.ValueType(wasm.F32), abi.ValueType(wasm.F64)
	for name, params := range map[string][]abi.ValueType{
		"print": nil, "print_i32": {i32}, "print_i64": {i64}, "print_f32": {f32}, "print_f64": {f64}, "print_i32_f32": {i32, f32}, "print_f64_f64": {f64, f64},
	} {
		all = append(all, admit.Import{Module: "spectest", Name: name, Type: abi.Signature{Params: params}})
	}
	return all
}

// A memory is that of a guest. Its bytes do not belong to Go, since an engine may keep their address.
type memory struct {
	*snapshot.Memory
	limit uint64
}

func newMemory(pages uint32, reservation uint64) (*memory, error) {
	m, err := snapshot.Blank(uint64(max(1, pages))*engine.PageSize, reservation)
	if err != nil {
		return nil, err
	}
	return &memory{m, uint64(pages) * engine.PageSize}, nil
}

func reservation(m engine.Module) uint64 {
	if r, ok := m.(engine.Reserver); ok {
		return r.Reservation()
	}
	return 0
}

// Reallocate implements [engine.LinearMemory].
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit {
		return nil
	}
	return m.Memory.Reallocate(size)
}
