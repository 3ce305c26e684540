package admit

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// Flags of element segments, and of data segments but for the last.
const (
	segmentNotActive = 1 // passive; declarative with segmentExplicit
	segmentExplicit  = 2 // of an active one: it names its table or memory
	segmentExprs     = 4 // elements are expressions, not indices
)

func (c *checker) elementSegment() {
	flags := c.r.U32()
	if flags > segmentNotActive|segmentExplicit|segmentExprs {
		c.invalid("unknown kind of segment %#x", flags)
		return
	}
	active := flags&segmentNotActive == 0
	table := uint32(0)
	if active {
		if flags&segmentExplicit != 0 {
			table = c.r.U32()
		}
		c.constant(wasm.I32)
	}
	t := c.elementType(flags)
	switch {
	case !c.ok():
		return
	case active && int64(table) >= int64(len(c.tables)):
		c.invalid("unknown table %d", table)
		return
	case active && c.tables[table] != t:
		c.invalid("elements of %s for a table of %s", abi.ValueType(t), abi.ValueType(c.tables[table]))
		return
	}
	c.elements = append(c.elements, t)
	c.elementList(t, flags&segmentExprs != 0)
}

// elementType reads the type of a segment's references. The short forms have functions.
func (c *checker) elementType(flags uint32) wasm.ValueType {
	if flags&(segmentNotActive|segmentExplicit) == 0 {
		return wasm.FuncRef
	}
	t := c.r.Byte()
	switch exprs := flags&segmentExprs != 0; {
	case exprs && !wasm.IsRefType(t), !exprs && t != 0:
		c.invalid("unknown kind of element %#x", t)
	case !exprs:
		return wasm.FuncRef
	}
	return t
}

func (c *checker) elementList(t wasm.ValueType, exprs bool) {
	n := c.r.U32()
	c.totalElements += uint64(n)
	if !c.checkLimit(boundElements, c.totalElements) {
		return
	}
	for i := uint32(0); i < n && c.ok(); i++ {
		if exprs {
			c.constant(t)
		} else {
			c.declare(c.functionIndex())
		}
	}
}

// declare lets ref.func name a function.
func (c *checker) declare(f uint32) {
	if c.declared == nil {
		c.declared = make([]bool, len(c.functions)) // each is there
	}
	if int64(f) < int64(len(c.declared)) {
		c.declared[f] = true
	}
}

func (c *checker) dataSegment() {
	flags := c.r.U32()
	if flags > segmentExplicit {
		c.invalid("unknown kind of segment %#x", flags)
		return
	}
	if flags != segmentNotActive {
		memory := uint32(0)
		if flags == segmentExplicit {
			memory = c.r.U32()
		}
		if memory >= c.memories {
			c.invalid("unknown memory %d", memory)
			return
		}
		c.constant(wasm.I32)
	}
	c.report.DataBytes += uint64(len(c.r.Bytes(c.r.U32())))
	c.data++
}

// constant reads a constant expression: one instruction with a result of type want.
func (c *checker) constant(want wasm.ValueType) {
	var ins wasm.Instruction
	if !c.r.Next(&ins) {
		c.r.Byte() // which fails, if that was the end
		return
	}
	var got wasm.ValueType
	switch ins.Op {
	case wasm.OpI32Const:
		got = wasm.I32
	case wasm.OpI64Const:
		got = wasm.I64
	case wasm.OpF32Const:
		got = wasm.F32
	case wasm.OpF64Const:
		got = wasm.F64
	case wasm.OpV128Const:
		got = wasm.V128
	case wasm.OpRefNull:
		got = ins.Types[0]
	case wasm.OpRefFunc:
		got = wasm.FuncRef
		c.reference(ins.Index)
	case wasm.OpGlobalGet:
		got = c.constantGlobal(ins.Index)
	default:
		c.invalid("%s is not constant", ins.Op)
		return
	}
	if got != want {
		c.invalid("%s wanted, found %s", abi.ValueType(want), ins.Op)
		return
	}
	if c.r.Byte() != byte(wasm.OpEnd) {
		c.invalid("a constant expression is one instruction")
	}
}

func (c *checker) reference(f uint32) {
	if int64(f) >= int64(len(c.functions)) {
		c.invalid("unknown function %d", f)
		return
	}
	c.declare(f)
}

// constantGlobal returns the type of a global that a constant expression may read: an imported, immutable one.
func (c *checker) constantGlobal(g uint32) wasm.ValueType {
	if int64(g) >= int64(c.importedGlobals) || c.globals[g].mutable {
		c.invalid("global %d is not constant", g)
		return 0
	}
	return c.globals[g].typ
}
