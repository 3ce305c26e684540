package differential

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// Generate returns a valid module that text decides: some functions of numbers that compute, branch, loop, call each other, directly
// and by a table, and use a memory and globals. Each function is exported. NaNs that arithmetic makes are replaced by one, since
// their bits may differ.
func Generate(text []byte) []byte {
	sum := fnv.New64a()
	sum.Write(text)
	g := &generator{text: text, rest: rand.New(rand.NewPCG(sum.Sum64(), 1))}
	return g.module()
}

// A generator makes one module.
type generator struct {
	text      []byte     // choices
	rest      *rand.Rand // further choices
	functions []functype
	globals   []wasm.ValueType

	// of the function that is made
	locals []wasm.ValueType
	result wasm.ValueType
	labels int // of loops and blocks without a result, around the present place
	left   int // instructions
	b      []byte
}

type functype struct {
	params []wasm.ValueType
	result wasm.ValueType
}

// types are those of parameters, results and globals.
var types = []wasm.ValueType{wasm.I32, wasm.I64, wasm.F32, wasm.F64}

// scratch are those of the locals of each function, after its parameters.
var scratch = []wasm.ValueType{wasm.I32, wasm.I64, wasm.F32, wasm.F64, wasm.V128}

// pick returns a number below n.
func (g *generator) pick(n int) int {
	if len(g.text) > 0 {
		v := int(g.text[0])
		g.text = g.text[1:]
		return v % n
	}
	return g.rest.IntN(n)
}

func (g *generator) value() wasm.ValueType { return types[g.pick(len(types))] }

func (g *generator) module() []byte {
	for range 1 + g.pick(4) {
		f := functype{result: g.value()}
		for range g.pick(4) {
			f.params = append(f.params, g.value())
		}
		g.functions = append(g.functions, f)
	}
	for range g.pick(4) {
		g.globals = append(g.globals, g.value())
	}
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, n int, body func(b []byte) []byte) {
		b = wasm.AppendSection(b, id, body(wasm.AppendU32(nil, uint32(n))))
	}
	n := len(g.functions)
	section(wasm.SectionType, n, g.typeSection)
	section(wasm.SectionFunction, n, func(b []byte) []byte {
		for i := range g.functions {
			b = wasm.AppendU32(b, uint32(i))
		}
		return b
	})
	section(wasm.SectionTable, 1, func(b []byte) []byte { return append(b, 0x70, 1, byte(n+1), byte(n+1)) })
	section(wasm.SectionMemory, 1, func(b []byte) []byte { return append(b, 1, 1, 3) })
	section(wasm.SectionGlobal, len(g.globals), g.globalSection)
	section(wasm.SectionExport, n+1, func(b []byte) []byte {
		b = append(wasm.AppendName(b, "memory"), 2, 0)
		for i := range g.functions {
			b = append(wasm.AppendName(b, fmt.Sprint("f", i)), 0, byte(i))
		}
		return b
	})
	section(wasm.SectionElement, 1, func(b []byte) []byte { // the last entry of the table stays null
		b = append(b, 0, 0x41, 0, 0x0b, byte(n))
		for i := range g.functions {
			b = append(b, byte(i))
		}
		return b
	})
	section(wasm.SectionCode, n, func(b []byte) []byte {
		for _, f := range g.functions {
			body := g.body(f)
			b = append(wasm.AppendU32(b, uint32(len(body))), body...)
		}
		return b
	})
	return b
}

func (g *generator) typeSection(b []byte) []byte {
	for _, f := range g.functions {
		b = append(b, 0x60, byte(len(f.params)))
		for _, t := range f.params {
			b = append(b, byte(t))
		}
		b = append(b, 1, byte(f.result))
	}
	return b
}

func (g *generator) globalSection(b []byte) []byte {
	for _, t := range g.globals {
		b = append(b, byte(t), 1)
		g.b = nil
		g.constant(t)
		b = append(append(b, g.b...), 0x0b)
	}
	return b
}

func (g *generator) body(f functype) []byte {
	g.locals = append(append([]wasm.ValueType(nil), f.params...), scratch...)
	g.result, g.labels, g.left, g.b = f.result, 0, 60+g.pick(200), nil
	for range 1 + g.pick(5) {
		g.statement(3)
	}
	g.expression(f.result, 4)
	locals := []byte{byte(len(scratch))}
	for _, t := range scratch {
		locals = append(locals, 1, byte(t))
	}
	return append(append(locals, g.b...), 0x0b)
}

func (g *generator) emit(code ...byte) {
	g.b = append(g.b, code...)
	g.left--
}

// local returns a local of a type. Each function has one of each.
func (g *generator) local(t wasm.ValueType) byte {
	var found []byte
	for i, known := range g.locals {
		if known == t {
			found = append(found, byte(i))
		}
	}
	return found[g.pick(len(found))]
}

func (g *generator) global(t wasm.ValueType) (index byte, ok bool) {
	for i, known := range g.globals {
		if known == t {
			index, ok = byte(i), true
			if g.pick(2) == 0 {
				break
			}
		}
	}
	return index, ok
}

var integers = []int64{0, 1, -1, 7, 255, 65_535, 65_536, 131_070, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}

var floats = []float64{0, math.Copysign(0, -1), 1, -1.5, 3e9, -9.3e18, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}

func (g *generator) constant(t wasm.ValueType) {
	switch t {
	case wasm.I32:
		g.b = wasm.AppendS32(append(g.b, 0x41), int32(integers[g.pick(len(integers))]))
	case wasm.V128:
		g.vectorConstant()
	case wasm.I64:
		g.b = wasm.AppendS64(append(g.b, 0x42), integers[g.pick(len(integers))])
	case wasm.F32:
		g.b = binary.LittleEndian.AppendUint32(append(g.b, 0x43), math.Float32bits(float32(floats[g.pick(len(floats))])))
	default:
		g.b = binary.LittleEndian.AppendUint64(append(g.b, 0x44), math.Float64bits(floats[g.pick(len(floats))]))
	}
	g.left--
}

// scratch returns the local of a type after the parameters.
func (g *generator) scratch(t wasm.ValueType) byte {
	return byte(len(g.locals) - len(scratch) + slices.Index(scratch, t))
}

// canonical replaces a NaN on the stack.
func (g *generator) canonical(t wasm.ValueType) {
	if t == wasm.V128 {
		g.canonicalElements()
		return
	}
	local, equal := g.scratch(t), byte(0x5b)
	if t == wasm.F64 {
		equal = 0x61
	}
	g.emit(0x22, local)
	if t == wasm.F64 {
		g.b = binary.LittleEndian.AppendUint64(append(g.b, 0x44), math.Float64bits(math.NaN()))
	} else {
		g.b = binary.LittleEndian.AppendUint32(append(g.b, 0x43), math.Float32bits(float32(math.NaN())))
	}
	g.emit(0x20, local, 0x20, local, equal, 0x1b)
}
