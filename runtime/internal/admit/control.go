package admit

import (
	"bytes"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// single has every value type once: a block with one result points to it instead of allocating.
var single = []wasm.ValueType{wasm.I32, wasm.I64, wasm.F32, wasm.F64, wasm.V128, wasm.FuncRef, wasm.ExternRef}

func (b *body) block() {
	op := b.ins.Op
	switch op {
	case wasm.OpIf:
		b.pop(wasm.I32)
		b.usage.blocks += 3
	case wasm.OpLoop:
		b.usage.loops++
		b.usage.blocks += 6
	default:
		b.usage.blocks++
	}
	t := b.blockType()
	b.popAll(t.params)
	if b.checkLimit(boundNesting, uint64(len(b.frames))) {
		b.enter(op, t.params, t.results)
	}
}

func (b *body) blockType() funcType {
	switch t := b.ins.Block; {
	case t == wasm.BlockEmpty:
		return funcType{}
	case t < 0:
		at := bytes.IndexByte(single, t.ValueType())
		return funcType{results: single[at : at+1]}
	case int64(t) >= int64(len(b.types)):
		b.failHere("of unknown type %d", int64(t))
		return funcType{}
	default:
		return b.types[t]
	}
}

func (b *body) elseBlock() {
	f := b.leave()
	if f.op != wasm.OpIf {
		b.failHere("without if")
		return
	}
	b.enter(wasm.OpElse, f.params, f.results)
}

func (b *body) end() {
	f := b.leave()
	if f.op == wasm.OpIf && !bytes.Equal(f.params, f.results) {
		b.failHere("of an if without else, whose results are not its parameters")
	}
	b.pushAllNew(f.results)
}

// target returns the types of the operands of a branch to a label.
func (b *body) target(label uint32) []wasm.ValueType {
	if int64(label) >= int64(len(b.frames)) {
		b.failHere("to unknown label %d", label)
		return nil
	}
	return b.frames[len(b.frames)-1-int(label)].label()
}

func (b *body) branch() {
	if b.ins.Op == wasm.OpBr {
		b.popAll(b.target(b.ins.Index))
		b.unreachable()
		return
	}
	b.usage.blocks += 2
	b.pop(wasm.I32)
	types := b.target(b.ins.Index)
	b.popAll(types)
	b.pushAll(types)
}

func (b *body) branchTable() {
	n := uint64(b.ins.Index)
	b.totalLabels += n
	if !b.checkLimit(boundLabels, n) || !b.checkLimit(boundTotalLabels, b.totalLabels) {
		return
	}
	b.usage.blocks += n + 1
	b.pop(wasm.I32)
	labels, arity := wasm.NewReader(b.ins.Labels), -1
	for labels.Len() > 0 && b.err == nil {
		types := b.target(labels.U32())
		if arity >= 0 && len(types) != arity {
			b.failHere("to labels that take %d and %d operands", arity, len(types))
		}
		arity = len(types)
		b.usage.moved += uint64(arity)
		b.matches(types)
	}
	b.unreachable()
}

func (b *body) call() {
	b.usage.calls++
	var t funcType
	if b.ins.Op == wasm.OpCall {
		if int64(b.ins.Index) >= int64(len(b.functions)) {
			b.failHere("of unknown function %d", b.ins.Index)
			return
		}
		t = b.typeOf(b.ins.Index)
	} else {
		if int64(b.ins.Index) >= int64(len(b.types)) {
			b.failHere("of unknown type %d", b.ins.Index)
			return
		}
		if e := b.tableType(b.ins.Index2); e != wasm.FuncRef {
			b.failHere("through a table of %s", abi.ValueType(e))
		}
		b.pop(wasm.I32)
		t = b.types[b.ins.Index]
	}
	b.popAll(t.params)
	b.pushAllNew(t.results)
}
