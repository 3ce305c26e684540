package admit

import (
	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// instruction checks the current instruction.
func (b *body) instruction() {
	ins := &b.ins
	switch ins.Op {
	case wasm.OpLocalGet, wasm.OpLocalSet, wasm.OpLocalTee:
		b.local()
	case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
		b.block()
	case wasm.OpElse:
		b.elseBlock()
	case wasm.OpEnd:
		b.end()
	case wasm.OpBr, wasm.OpBrIf:
		b.branch()
	case wasm.OpBrTable:
		b.branchTable()
	case wasm.OpReturn:
		b.popAll(b.frames[0].results)
		b.unreachable()
	case wasm.OpUnreachable:
		b.unreachable()
	case wasm.OpCall, wasm.OpCallIndirect:
		b.call()
	case wasm.OpDrop:
		b.popAny()
	case wasm.OpSelect:
		b.selection()
	case wasm.OpSelectTypes:
		b.typedSelection()
	case wasm.OpGlobalGet, wasm.OpGlobalSet:
		b.global()
	case wasm.OpTableGet, wasm.OpTableSet, wasm.OpTableGrow, wasm.OpTableFill:
		b.table()
	case wasm.OpRefNull, wasm.OpRefIsNull, wasm.OpRefFunc:
		b.ref()
	default:
		b.plain()
	}
}

// plain checks an instruction whose operands depend on its opcode alone.
func (b *body) plain() {
	ins := &b.ins
	if ins.Op < wasm.OpI32Eqz || ins.Op > wasm.OpI64Extend32S {
		b.immediates()
	}
	params, results, ok := ins.Op.Type()
	if !ok {
		b.failHere("is unknown")
		return
	}
	for i := len(params) - 1; i >= 0; i-- {
		b.pop(params[i])
	}
	switch {
	case results == "":
	case ins.Op >= wasm.OpI32Const && ins.Op <= wasm.OpF64Const:
		b.push(results[0])
	default:
		b.pushNew(results[0])
	}
}

// immediates checks the indices in an instruction of fixed type.
func (b *body) immediates() {
	ins := &b.ins
	if ins.Op.UsesMemory() {
		if b.memories == 0 {
			b.failHere("needs a memory")
		} else if ins.Align > ins.Op.MaxAlign() {
			b.failHere("states an alignment of 2^%d, at most 2^%d is natural", ins.Align, ins.Op.MaxAlign())
		}
	}
	if lanes := ins.Op.Lanes(); lanes > 0 && ins.Lane >= lanes {
		b.failHere("has no lane %d", ins.Lane)
	}
	switch ins.Op {
	case wasm.OpI8x16Shuffle:
		for _, lane := range ins.Vector {
			if lane >= 32 {
				b.failHere("has no lane %d", lane)
			}
		}
	case wasm.OpMemoryInit, wasm.OpDataDrop:
		if !b.hasCount || ins.Index >= b.dataCount {
			b.failHere("of data segment %d: %d are announced", ins.Index, b.dataCount)
		}
	case wasm.OpElemDrop:
		b.segmentType(ins.Index)
	case wasm.OpTableSize:
		b.tableType(ins.Index)
	case wasm.OpTableInit:
		b.sameType(b.segmentType(ins.Index), b.tableType(ins.Index2))
	case wasm.OpTableCopy:
		b.sameType(b.tableType(ins.Index2), b.tableType(ins.Index))
	}
}

func (b *body) local() {
	t := b.locals.use(b.ins.Index)
	if t == 0 {
		b.failHere("of unknown local %d", b.ins.Index)
		return
	}
	if b.ins.Op != wasm.OpLocalGet {
		b.pop(t)
		b.join(b.ins.Index)
	}
	if b.ins.Op != wasm.OpLocalSet {
		b.push(t)
	}
}

// join counts a local that is set, for each open block in which it was not set before. The block of the function itself
// does not count.
func (b *body) join(local uint32) {
	last := uint32(0)
	if local < tracked {
		last, b.locals.sets[local] = b.locals.sets[local], b.clock
	}
	for i := len(b.frames) - 1; i > 0 && b.frames[i].entered >= last; i-- {
		if b.usage.joins++; b.usage.joins > b.allowed[boundJoins] {
			break
		}
	}
	b.checkLimit(boundJoins, b.usage.joins)
}

func (b *body) global() {
	if int64(b.ins.Index) >= int64(len(b.globals)) {
		b.failHere("of unknown global %d", b.ins.Index)
		return
	}
	g := b.globals[b.ins.Index]
	switch {
	case b.ins.Op == wasm.OpGlobalGet:
		b.pushNew(g.typ)
	case !g.mutable:
		b.failHere("of global %d, which is immutable", b.ins.Index)
	default:
		b.pop(g.typ)
	}
}

func (b *body) table() {
	t := b.tableType(b.ins.Index)
	switch b.ins.Op {
	case wasm.OpTableGet:
		b.pop(wasm.I32)
		b.pushNew(t)
	case wasm.OpTableSet:
		b.pop(t)
		b.pop(wasm.I32)
	case wasm.OpTableGrow:
		b.pop(wasm.I32)
		b.pop(t)
		b.pushNew(wasm.I32)
	case wasm.OpTableFill:
		b.pop(wasm.I32)
		b.pop(t)
		b.pop(wasm.I32)
	}
}

func (b *body) tableType(table uint32) wasm.ValueType {
	if int64(table) >= int64(len(b.tables)) {
		b.failHere("of unknown table %d", table)
		return unknown
	}
	return b.tables[table]
}

func (b *body) segmentType(segment uint32) wasm.ValueType {
	if int64(segment) >= int64(len(b.elements)) {
		b.failHere("of unknown element segment %d", segment)
		return unknown
	}
	return b.elements[segment]
}

func (b *body) sameType(from, to wasm.ValueType) {
	if from != to {
		b.failHere("from %s to a table of %s", abi.ValueType(from), abi.ValueType(to))
	}
}

func (b *body) ref() {
	switch b.ins.Op {
	case wasm.OpRefNull:
		b.pushNew(b.ins.Types[0])
	case wasm.OpRefIsNull:
		if t := b.popAny(); t != unknown && !wasm.IsRefType(t) {
			b.failHere("wants a reference, found %s", abi.ValueType(t))
		}
		b.pushNew(wasm.I32)
	case wasm.OpRefFunc:
		if int64(b.ins.Index) >= int64(len(b.declared)) || !b.declared[b.ins.Index] {
			b.failHere("of function %d, which is not declared", b.ins.Index)
		}
		b.pushNew(wasm.FuncRef)
	}
}

// selection checks select without types, which takes numbers and vectors only.
func (b *body) selection() {
	b.pop(wasm.I32)
	x, y := b.popAny(), b.popAny()
	switch {
	case wasm.IsRefType(x) || wasm.IsRefType(y):
		b.failHere("of references must state their type")
	case x != y && x != unknown && y != unknown:
		b.failHere("of %s and %s", abi.ValueType(y), abi.ValueType(x))
	case x == unknown:
		x = y
	}
	b.pushNew(x)
}

func (b *body) typedSelection() {
	if len(b.ins.Types) != 1 {
		b.failHere("states %d types, must state one", len(b.ins.Types))
		return
	}
	t := b.ins.Types[0]
	b.pop(wasm.I32)
	b.pop(t)
	b.pop(t)
	b.pushNew(t)
}
