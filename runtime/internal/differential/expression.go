package differential

import (
	"slices"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// An operation takes values of some types from the stack, and leaves one.
type operation struct {
	code   []byte
	params []wasm.ValueType
	nan    bool // it may make a NaN
}

// operations are those that leave a type.
var operations = map[wasm.ValueType][]operation{}

func init() {
	add := func(result wasm.ValueType, nan bool, first, last byte, params ...wasm.ValueType) {
		for code := int(first); code <= int(last); code++ {
			operations[result] = append(operations[result], operation{[]byte{byte(code)}, params, nan})
		}
	}
	i32, i64, f32, f64 := wasm.I32, wasm.I64, wasm.F32, wasm.F64
	add(i32, false, 0x45, 0x45, i32)
	add(i32, false, 0x46, 0x4f, i32, i32)
	add(i32, false, 0x50, 0x50, i64)
	add(i32, false, 0x51, 0x5a, i64, i64)
	add(i32, false, 0x5b, 0x60, f32, f32)
	add(i32, false, 0x61, 0x66, f64, f64)
	add(i32, false, 0x67, 0x69, i32)
	add(i32, false, 0x6a, 0x78, i32, i32)
	add(i64, false, 0x79, 0x7b, i64)
	add(i64, false, 0x7c, 0x8a, i64, i64)
	add(f32, false, 0x8b, 0x8c, f32)
	add(f32, true, 0x8d, 0x91, f32)
	add(f32, true, 0x92, 0x97, f32, f32)
	add(f32, false, 0x98, 0x98, f32, f32)
	add(f64, false, 0x99, 0x9a, f64)
	add(f64, true, 0x9b, 0x9f, f64)
	add(f64, true, 0xa0, 0xa5, f64, f64)
	add(f64, false, 0xa6, 0xa6, f64, f64)
	add(i32, false, 0xa7, 0xa7, i64)
	add(i32, false, 0xa8, 0xa9, f32)
	add(i32, false, 0xaa, 0xab, f64)
	add(i64, false, 0xac, 0xad, i32)
	add(i64, false, 0xae, 0xaf, f32)
	add(i64, false, 0xb0, 0xb1, f64)
	add(f32, false, 0xb2, 0xb3, i32)
	add(f32, false, 0xb4, 0xb5, i64)
	add(f32, true, 0xb6, 0xb6, f64)
	add(f64, false, 0xb7, 0xb8, i32)
	add(f64, false, 0xb9, 0xba, i64)
	add(f64, true, 0xbb, 0xbb, f32)
	add(i32, false, 0xbc, 0xbc, f32)
	add(i64, false, 0xbd, 0xbd, f64)
	add(f32, false, 0xbe, 0xbe, i32)
	add(f64, false, 0xbf, 0xbf, i64)
	add(i32, false, 0xc0, 0xc1, i32)
	add(i64, false, 0xc2, 0xc4, i64)
	for code := range byte(8) { // saturating
		from, to := f32, i32
		if code&2 != 0 {
			from = f64
		}
		if code >= 4 {
			to = i64
		}
		operations[to] = append(operations[to], operation{[]byte{0xfc, code}, []wasm.ValueType{from}, false})
	}
}

var loads = map[wasm.ValueType][][]byte{
	wasm.I32: {{0x28}, {0x2c}, {0x2d}, {0x2e}, {0x2f}}, wasm.I64: {{0x29}, {0x30}, {0x31}, {0x32}, {0x33}, {0x34}, {0x35}}, wasm.F32: {{0x2a}}, wasm.F64: {{0x2b}},
}

var stores = map[wasm.ValueType][][]byte{
	wasm.I32: {{0x36}, {0x3a}, {0x3b}}, wasm.I64: {{0x37}, {0x3c}, {0x3d}, {0x3e}}, wasm.F32: {{0x38}}, wasm.F64: {{0x39}},
}

// expression emits code that leaves one value.
func (g *generator) expression(t wasm.ValueType, depth int) {
	if depth == 0 || g.left < 0 {
		g.leaf(t)
		return
	}
	switch g.pick(13) {
	case 0:
		g.leaf(t)
	case 1:
		g.address(depth)
		g.emit(append(slices.Clone(loads[t][g.pick(len(loads[t]))]), 0, byte(g.pick(128)))...)
	case 2:
		g.expression(t, depth-1)
		g.expression(t, depth-1)
		g.expression(wasm.I32, depth-1)
		g.emit(0x1b)
	case 3:
		g.expression(wasm.I32, depth-1)
		g.emit(0x04, byte(t))
		g.inside(func() { g.expression(t, depth-1) })
		g.emit(0x05)
		g.inside(func() { g.expression(t, depth-1) })
		g.emit(0x0b)
	case 4:
		g.call(t, depth)
	case 5:
		g.expression(t, depth-1)
		g.emit(0x22, g.local(t))
	case 6:
		g.size(t, depth)
	case 7:
		g.element(t, depth)
	default:
		op := operations[t][g.pick(len(operations[t]))]
		for _, p := range op.params {
			g.expression(p, depth-1)
		}
		g.emit(op.code...)
		if op.nan {
			g.canonical(t)
		}
	}
}

// inside emits code within a block whose label is not used.
func (g *generator) inside(code func()) {
	before := g.labels
	g.labels = 0 // the blocks around it are one further than they are counted
	code()
	g.labels = before
}

func (g *generator) leaf(t wasm.ValueType) {
	if index, ok := g.global(t); ok && g.pick(3) == 0 {
		g.emit(0x23, index)
		return
	}
	if g.pick(2) == 0 {
		g.emit(0x20, g.local(t))
		return
	}
	g.constant(t)
}

// address emits an address, which is mostly within the memory.
func (g *generator) address(depth int) {
	g.expression(wasm.I32, depth-1)
	if g.pick(8) != 0 {
		g.b = append(wasm.AppendS32(append(g.b, 0x41), 0xffff), 0x71)
	}
}

// call emits a call of a function with that result, if there is one, directly or by the table.
func (g *generator) call(t wasm.ValueType, depth int) {
	at := g.pick(len(g.functions))
	for range g.functions {
		if g.functions[at].result == t {
			break
		}
		at = (at + 1) % len(g.functions)
	}
	f := g.functions[at]
	if f.result != t {
		g.leaf(t)
		return
	}
	for _, p := range f.params {
		g.expression(p, depth-1)
	}
	if g.pick(2) == 0 {
		g.emit(0x10, byte(at))
		return
	}
	entry := at
	if g.pick(6) == 0 {
		entry = g.pick(len(g.functions) + 2) // another type, null, or out of bounds
	}
	g.emit(0x41, byte(entry))
	g.emit(0x11, byte(at), 0)
}

// size emits the size of the memory before or after growing it.
func (g *generator) size(t wasm.ValueType, depth int) {
	if t != wasm.I32 {
		g.leaf(t)
		return
	}
	if g.pick(2) == 0 {
		g.emit(0x3f, 0)
		return
	}
	g.emit(0x41, byte(g.pick(3)))
	g.emit(0x40, 0)
}

// statement emits code that leaves nothing.
func (g *generator) statement(depth int) {
	t := scratch[g.pick(len(scratch))]
	if depth == 0 || g.left < 0 {
		g.expression(t, 0)
		g.emit(0x21, g.local(t))
		return
	}
	switch g.pick(9) {
	case 0, 1:
		g.address(depth)
		g.expression(t, depth)
		g.emit(append(slices.Clone(stores[t][g.pick(len(stores[t]))]), 0, byte(g.pick(128)))...)
	case 2:
		index, ok := g.global(t)
		g.expression(t, depth)
		if ok {
			g.emit(0x24, index)
		} else {
			g.emit(0x1a)
		}
	case 3, 4:
		g.block(byte(0x02+g.pick(2)), depth)
	case 5:
		if g.labels > 0 {
			g.expression(wasm.I32, depth-1)
			g.emit(0x0d, byte(g.pick(g.labels)))
		}
	case 6:
		copies := g.pick(2) == 0
		g.address(depth)
		if copies {
			g.address(depth)
		} else {
			g.expression(wasm.I32, 1)
		}
		g.emit(0x41, byte(g.pick(64)))
		if copies {
			g.emit(0xfc, 0x0a, 0, 0)
		} else {
			g.emit(0xfc, 0x0b, 0)
		}
	case 7:
		g.expression(wasm.I32, depth-1)
		g.emit(0x04, 0x40)
		g.labels++
		g.statement(depth - 1)
		g.labels--
		g.emit(0x0b)
	default:
		g.expression(t, depth)
		g.emit(0x21, g.local(t))
	}
}

// block emits a block or a loop, with a table of its labels now and then.
func (g *generator) block(code byte, depth int) {
	g.emit(code, 0x40)
	g.labels++
	for range 1 + g.pick(3) {
		g.statement(depth - 1)
	}
	if g.pick(3) == 0 {
		g.expression(wasm.I32, 1)
		g.emit(0x0e, 1, byte(g.pick(g.labels)), byte(g.pick(g.labels)))
	}
	g.labels--
	g.emit(0x0b)
}
