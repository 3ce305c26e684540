package meter

import (
	"fmt"
	"math"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// A body rewrites the functions of a module, one after the other.
type body struct {
	*writer
	analysis   analysis
	accounting accounting
	out        []byte // the function as far as it is written
	number     uint32 // of the function, in the original module
	loops      int    // loops begun
	frame      int32  // bytes of stack it is charged for; 0 if it calls nothing
	saved      uint32 // local with the depth at entry, if there is a frame
	cache      uint32 // local with the fuel within quiet loops, if there are any
	quiet      int    // labels open around the quiet loop that is open; 0 if none is
}

// code rewrites the functions and appends the helpers they use.
func (w *writer) code() error {
	b := &body{writer: w}
	v := &w.vectors[wasm.SectionCode]
	r := w.reader(wasm.SectionCode)
	var count uint32
	if r.Len() > 0 {
		count = r.U32()
	}
	if uint64(count) != uint64(len(w.functions)) {
		return malformed("%d functions have %d bodies", len(w.functions), count)
	}
	for i := range w.functions {
		b.number = w.imported + uint32(i)
		if err := b.rewrite(r.Part(r.U32()), i); err != nil {
			return fmt.Errorf("function %d: %w", b.number, err)
		}
		v.items = wasm.AppendU32(v.items, uint32(len(b.out)))
		v.add(b.out)
	}
	for _, h := range w.kinds {
		code := h.code(w)
		v.items = wasm.AppendU32(v.items, uint32(len(code)))
		v.add(code)
	}
	return r.Err()
}

// rewrite writes the i-th function defined.
func (b *body) rewrite(r wasm.Reader, i int) error {
	t := b.functions[i]
	if uint64(t) >= uint64(len(b.types.entries)) {
		return malformed("it has no type")
	}
	signature := b.types.entries[t]
	size := uint64(r.Len())
	groups, from := r.U32(), r.Offset()
	locals := uint64(len(signature.params))
	for n := groups; n > 0 && r.Err() == nil; n-- {
		locals += uint64(r.U32())
		r.Byte()
	}
	declared := b.binary[from:r.Offset()]
	if err := b.analysis.take(r); err != nil {
		return err
	}
	b.frame = 0
	if b.analysis.calls {
		b.frame = b.frameOf(i, locals+uint64(len(signature.results)), size)
	}
	b.locals(groups, declared, uint32(locals))
	b.enter(signature.results)
	if err := b.instructions(&r); err != nil {
		return err
	}
	b.leave()
	return nil
}

// locals writes the declarations of locals, and those added after them.
func (b *body) locals(groups uint32, declared []byte, next uint32) {
	var added []byte
	if b.frame != 0 {
		b.saved, next, groups = next, next+1, groups+1
		added = append(added, 1, wasm.I32)
	}
	if b.analysis.quiet {
		b.cache, groups = next, groups+1
		added = append(added, 1, wasm.I64)
	}
	b.out = append(append(wasm.AppendU32(b.out[:0], groups), declared...), added...)
}

// frameOf returns the native frame of a function with so many locals and results and so many bytes of code. No value
// takes more than 16 bytes. Each byte of code produces at most one value, and a call of two bytes at most the results
// of one function.
func (b *body) frameOf(i int, locals, size uint64) int32 {
	const linkage, value = 128, 16
	estimate := linkage + value*(locals+size*b.types.widest())
	if i < len(b.cfg.Frames) {
		estimate = uint64(b.cfg.Frames[i])
	}
	return int32(min(max(estimate, 1), math.MaxInt32/2))
}

// enter writes the code before the first instruction.
func (b *body) enter(results string) {
	b.loops, b.quiet = 0, 0
	b.out = b.appendSpend(b.out, b.accounting.enter(b.analysis.own[0]))
	if b.frame == 0 {
		b.out = b.appendCheck(b.out)
		return
	}
	b.out = appendIndexed(b.out, wasm.OpGlobalGet, b.depth())
	b.out = appendIndexed(b.out, wasm.OpLocalTee, b.saved)
	b.out = wasm.AppendS32(append(b.out, byte(wasm.OpI32Const)), b.frame)
	b.out = appendIndexed(append(b.out, byte(wasm.OpI32Sub)), wasm.OpGlobalSet, b.depth())
	b.out = appendIndexed(b.out, wasm.OpGlobalGet, b.fuel())
	b.out = appendIndexed(b.out, wasm.OpGlobalGet, b.depth())
	b.out = append(b.out, byte(wasm.OpI64ExtendI32S), byte(wasm.OpI64Or)) // below zero if one of them is
	b.out = appendCallBelow(b.out, b.index(helperPause))
	b.out = b.appendBlockType(append(b.out, byte(wasm.OpBlock)), results)
}

// leave writes the code after the last instruction, the end of the block that enter began.
func (b *body) leave() {
	if b.frame != 0 {
		b.out = appendIndexed(b.out, wasm.OpLocalGet, b.saved)
		b.out = append(appendIndexed(b.out, wasm.OpGlobalSet, b.depth()), byte(wasm.OpEnd))
	}
}

// appendBlockType appends the type of a block with these results. One with several needs a type.
func (b *body) appendBlockType(out []byte, results string) []byte {
	switch len(results) {
	case 0:
		return wasm.AppendS64(out, int64(wasm.BlockEmpty))
	case 1:
		return append(out, results[0])
	}
	return wasm.AppendS64(out, int64(b.types.of(functionType{results: results})))
}

// instructions writes the function's own instructions with their charges.
func (b *body) instructions(r *wasm.Reader) error {
	var ins wasm.Instruction
	for r.Next(&ins) {
		b.charge(b.accounting.before())
		if ins.Op == wasm.OpLoop {
			b.loop(&ins)
			continue
		}
		b.instruction(&ins)
		if !b.accounting.after(&ins) {
			return malformed("byte %#x: %v does not belong to a block", ins.Start, ins.Op)
		}
		if ins.Op == wasm.OpEnd && len(b.accounting.labels) == b.quiet {
			b.quiet = 0
		}
	}
	return r.Err()
}

// loop writes the start of a loop. A quiet one, which has no calls, caches the fuel in a local.
func (b *body) loop(ins *wasm.Instruction) {
	b.loops++
	if b.quiet == 0 && !b.analysis.noisy[b.loops] {
		b.quiet = len(b.accounting.labels)
		b.out = b.appendCache(b.out, b.cache)
	}
	b.out = append(b.out, b.binary[ins.Start:ins.End]...)
	b.charge(b.accounting.loop(b.analysis.own[b.loops]))
}

// charge writes a charge, unless it is zero.
func (b *body) charge(units int64) {
	switch {
	case units == 0:
	case b.quiet > 0:
		b.out = b.appendCached(b.out, b.cache, units)
	default:
		b.out = b.appendCharge(b.out, units)
	}
}

// instruction writes one instruction, or its replacement.
func (b *body) instruction(ins *wasm.Instruction) {
	b.checkTables(ins)
	switch op := ins.Op; op {
	case wasm.OpCall:
		b.out = appendIndexed(b.out, op, b.function(ins.Index))
		return
	case wasm.OpRefFunc:
		b.out = b.appendReference(b.out, b.function(ins.Index))
		return
	case wasm.OpReturn:
		if b.frame != 0 {
			b.out = appendIndexed(b.out, wasm.OpBr, uint32(len(b.accounting.labels)-1))
			return
		}
	case wasm.OpMemoryCopy:
		b.call(helperCopy)
		return
	case wasm.OpMemoryFill:
		b.call(helperFill)
		return
	case wasm.OpMemoryGrow:
		b.call(helperGrow)
		return
	case wasm.OpMemoryInit:
		b.indexed = true
		b.call(helperCharge)
	case wasm.OpTableInit, wasm.OpTableCopy, wasm.OpTableGrow, wasm.OpTableFill:
		b.markDirty(ins)
		b.call(helperCharge)
	case wasm.OpDataDrop:
		b.indexed = true
		b.markDirty(ins)
	case wasm.OpElemDrop, wasm.OpTableSet:
		b.markDirty(ins)
	case wasm.OpGlobalGet:
		b.checkGlobal(ins.Index)
	case wasm.OpGlobalSet:
		if b.checkGlobal(ins.Index); b.refused == nil && !b.variables[ins.Index].numeric() {
			b.markDirty(ins)
		}
	}
	b.out = append(b.out, b.binary[ins.Start:ins.End]...)
}

// markDirty writes the mark of an instruction that changes state beyond what a reset restores, before the instruction.
func (b *body) markDirty(ins *wasm.Instruction) {
	b.out = wasm.AppendS32(append(b.out, byte(wasm.OpI32Const)), 1)
	b.out = appendIndexed(b.out, wasm.OpGlobalSet, b.dirty())
	if b.module.CanDirty == "" {
		b.module.CanDirty = fmt.Sprintf("function %d uses %v", b.number, ins.Op)
	}
}

// call calls a helper.
func (b *body) call(h helper) {
	b.out = appendIndexed(b.out, wasm.OpCall, b.index(h))
}
