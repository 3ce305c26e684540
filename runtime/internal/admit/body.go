package admit

import (
	"fmt"
	"math"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A body checks function bodies one after the other, with the algorithm of the appendix of the core specification. It
// reuses its slices, which grow in proportion to the code alone.
type body struct {
	*checker
	source     wasm.Reader      // the reader of checker, while this one has it
	stack      []wasm.ValueType // operands
	frames     []frame
	locals     locals
	usage      usage
	ins        wasm.Instruction
	height     int    // of the stack where the innermost frame begins
	highest    int    // of the stack
	vector     bool   // whether there was a v128 among the operands
	clock      uint32 // instructions up to now, in all functions: fewer than bytes
	underflows bool   // operands below height are of any type, since the code is unreachable
}

// usage counts what compiling one function costs.
type usage struct {
	instructions, blocks, loops, calls uint64
	moved                              uint64 // operands, by calls, blocks and branches
	values                             uint64 // produced by instructions and blocks, without constants; a v128 is two
	joins                              uint64 // as Limits.Joins
}

// code reads the code section.
func (c *checker) code() {
	n := c.r.U32()
	if defined := len(c.functions) - c.importedFunctions; c.ok() && int64(n) != int64(defined) {
		c.invalid("%d functions are declared, %d have code", defined, n)
		return
	}
	section := c.r
	b := body{checker: c}
	c.item, c.bodies = "function", int(n)
	for c.index = c.importedFunctions; c.index < len(c.functions) && c.ok(); c.index++ {
		b.source = section.Part(section.U32())
		c.r = &b.source
		b.function(c.typeOf(uint32(c.index)))
	}
	if c.ok() {
		c.r = section
	}
}

// function checks one body, which takes up all of the reader.
func (b *body) function(t funcType) {
	if !b.ok() || !b.checkLimit(boundBody, uint64(b.r.Len())) || !b.locals.read(b.checker, t.params) {
		return
	}
	b.stack, b.frames = b.stack[:0], b.frames[:0]
	b.height, b.highest, b.vector, b.underflows = 0, 0, false, false
	b.usage = usage{blocks: 1}
	b.enter(wasm.OpBlock, nil, t.results)
	for b.r.Next(&b.ins) {
		b.usage.instructions++
		b.clock++
		b.instruction()
		if b.err != nil {
			return
		}
		if len(b.stack) > b.highest {
			b.highest = len(b.stack)
			b.checkLimit(boundOperands, uint64(b.highest))
		}
		if len(b.frames) == 0 {
			break
		}
	}
	switch {
	case !b.ok():
	case len(b.frames) > 0:
		b.invalid("the function does not end")
	case b.r.Len() > 0:
		b.invalid("bytes after the function's end")
	default:
		b.account()
	}
}

// account adds a checked function to the report.
func (b *body) account() {
	u, used := &b.usage, b.locals.used()
	b.checkLimit(boundBlocks, u.blocks)
	b.checkLimit(boundLoopLocals, product(u.loops, used))
	b.cost = sum(b.cost, u.cost(used))
	if b.cost > b.maxCost {
		where := fmt.Sprintf("function %d", b.index)
		b.fail((&LimitError{limitCost, b.cost, b.maxCost, where}).public())
	}
	b.report.Instructions += u.instructions
	b.report.Blocks += u.blocks
	b.report.Loops += u.loops
	b.report.Calls += u.calls
	b.report.Frames = append(b.report.Frames, b.frame())
}

// frame returns an upper estimate of the native stack of the function, in bytes. Counting locals and operands is not
// enough: wazero gives each value that it ever moves out of a register a slot, so a local that is set 20,000 times
// between calls takes 160 KB. Measured frames were at most 0.6 of the estimate, and a tenth of it for most large
// functions.
func (b *body) frame() uint32 {
	const fixed, slot = 64, 8 // return address, saved registers, spilled temporaries; a number or a reference
	operand := uint64(1)
	if b.vector {
		operand = 2
	}
	slots := b.locals.count + b.locals.vectors + operand*(uint64(b.highest)+b.usage.joins) + b.usage.values
	return uint32(min(fixed+slot*slots, math.MaxUint32))
}

// failHere fails because of the current instruction.
func (b *body) failHere(format string, args ...any) {
	b.fail(abi.Errorf(abi.CodeModule, "%s%s %s", b.place(b.ins.Start), b.ins.Op, fmt.Sprintf(format, args...)))
}
