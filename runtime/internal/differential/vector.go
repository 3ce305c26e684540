package differential

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// vector returns the code of an instruction of vectors.
func vector(op int) []byte { return wasm.AppendU32([]byte{0xfd}, uint32(op)) }

func init() {
	add := func(result wasm.ValueType, nan bool, first, last int, params ...wasm.ValueType) {
		for op := first; op <= last; op++ {
			operations[result] = append(operations[result], operation{vector(op), params, nan})
		}
	}
	i32, i64, f32, f64, v := wasm.I32, wasm.I64, wasm.F32, wasm.F64, wasm.V128
	add(v, false, 0x0e, 0x0e, v, v) // swizzle
	for i, element := range []wasm.ValueType{i32, i32, i32, i64, f32, f64} {
		add(v, false, 0x0f+i, 0x0f+i, element) // splat
	}
	add(v, false, 0x23, 0x4c, v, v) // comparisons
	add(v, false, 0x4d, 0x4d, v)
	add(v, false, 0x4e, 0x51, v, v)
	add(v, false, 0x52, 0x52, v, v, v)
	add(i32, false, 0x53, 0x53, v)
	add(v, true, 0x5e, 0x5f, v)
	add(v, false, 0x60, 0x62, v) // 16 elements of 8 bits
	add(i32, false, 0x63, 0x64, v)
	add(v, false, 0x65, 0x66, v, v)
	add(v, true, 0x67, 0x6a, v)
	add(v, false, 0x6b, 0x6d, v, i32)
	add(v, false, 0x6e, 0x73, v, v)
	add(v, true, 0x74, 0x75, v)
	add(v, false, 0x76, 0x79, v, v)
	add(v, true, 0x7a, 0x7a, v)
	add(v, false, 0x7b, 0x7b, v, v)
	add(v, false, 0x7c, 0x81, v) // 8 elements of 16
	add(v, false, 0x82, 0x82, v, v)
	add(i32, false, 0x83, 0x84, v)
	add(v, false, 0x85, 0x86, v, v)
	add(v, false, 0x87, 0x8a, v)
	add(v, false, 0x8b, 0x8d, v, i32)
	add(v, false, 0x8e, 0x93, v, v)
	add(v, true, 0x94, 0x94, v)
	add(v, false, 0x95, 0x99, v, v)
	add(v, false, 0x9b, 0x9f, v, v)
	for elements := 0xa0; elements <= 0xc0; elements += 0x20 { // 4 of 32 and 2 of 64
		add(v, false, elements, elements+1, v)
		add(i32, false, elements+3, elements+4, v)
		add(v, false, elements+7, elements+0xa, v)
		add(v, false, elements+0xb, elements+0xd, v, i32)
		for _, op := range []int{0xe, 0x11, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1c, 0x1d, 0x1e, 0x1f} {
			add(v, false, elements+op, elements+op, v, v)
		}
	}
	add(v, false, 0xba, 0xba, v, v)                           // dot product
	add(v, false, 0xda, 0xdb, v, v)                           // comparisons
	for elements := 0xe0; elements <= 0xec; elements += 0xc { // 4 elements of f32 and 2 of f64
		add(v, false, elements, elements+1, v)
		add(v, true, elements+3, elements+3, v)
		add(v, true, elements+4, elements+9, v, v)
		add(v, false, elements+0xa, elements+0xb, v, v)
	}
	add(v, false, 0xf8, 0xff, v) // conversions
	loads[v] = [][]byte{vector(0), vector(1), vector(2), vector(3), vector(4), vector(5), vector(6), vector(7), vector(8), vector(9), vector(0xa), vector(0x5c), vector(0x5d)}
	stores[v] = [][]byte{vector(0xb)}
}

// elements are the instructions with the index of an element: reading one, and replacing it.
var elements = map[wasm.ValueType][]struct{ read, replace, n int }{
	wasm.I32: {{0x15, 0x17, 16}, {0x16, 0x17, 16}, {0x18, 0x1a, 8}, {0x19, 0x1a, 8}, {0x1b, 0x1c, 4}},
	wasm.I64: {{0x1d, 0x1e, 2}}, wasm.F32: {{0x1f, 0x20, 4}}, wasm.F64: {{0x21, 0x22, 2}},
}

// element emits code that reads an element of a vector, or for a vector replaces one or shuffles all.
func (g *generator) element(t wasm.ValueType, depth int) {
	if t != wasm.V128 {
		of := elements[t][g.pick(len(elements[t]))]
		g.expression(wasm.V128, depth-1)
		g.emit(append(vector(of.read), byte(g.pick(of.n)))...)
		return
	}
	g.expression(wasm.V128, depth-1)
	if g.pick(2) == 0 {
		g.expression(wasm.V128, depth-1)
		g.emit(vector(0x0d)...)
		for range 16 {
			g.b = append(g.b, byte(g.pick(32)))
		}
		return
	}
	number := g.value()
	of := elements[number][g.pick(len(elements[number]))]
	g.expression(number, depth-1)
	g.emit(append(vector(of.replace), byte(g.pick(of.n)))...)
}

// vectorConstant emits a vector of equal elements, or of bytes that look random.
func (g *generator) vectorConstant() {
	value := binary.LittleEndian.AppendUint64(nil, uint64(integers[g.pick(len(integers))]))
	switch g.pick(4) {
	case 0:
		value = binary.LittleEndian.AppendUint64(nil, math.Float64bits(floats[g.pick(len(floats))]))
	case 1:
		value = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(floats[g.pick(len(floats))])))
	case 2:
		value = binary.LittleEndian.AppendUint64(nil, g.rest.Uint64())
	}
	g.emitVector(value)
}

// emitVector emits a vector that repeats bytes.
func (g *generator) emitVector(value []byte) {
	g.emit(vector(0x0c)...)
	g.b = append(g.b, bytes.Repeat(value, 16/len(value))...)
}

// canonicalElements replaces the NaNs among the elements of the vector on the stack, as f32 and as f64.
func (g *generator) canonicalElements() {
	local := g.scratch(wasm.V128)
	for _, as := range []struct {
		nan   []byte
		equal int
	}{
		{binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN()))), 0x41},
		{binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN())), 0x47},
	} {
		g.emit(0x22, local)
		g.emitVector(as.nan)
		g.emit(0x20, local, 0x20, local)
		g.emit(vector(as.equal)...)
		g.emit(vector(0x52)...)
	}
}
