package admit

import (
	"bytes"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// unknown is the type of an operand of unreachable code that was never pushed.
const unknown wasm.ValueType = 0

// A frame is a block that is open.
type frame struct {
	params, results []wasm.ValueType
	height          int    // of the stack below its operands
	entered         uint32 // when, by the clock of the body
	op              wasm.Opcode
	unreachable     bool
}

// label returns the types of the operands of a branch to the frame.
func (f *frame) label() []wasm.ValueType {
	if f.op == wasm.OpLoop {
		return f.params
	}
	return f.results
}

// push adds an operand that needs no new value: a local or a constant.
func (b *body) push(t wasm.ValueType) {
	b.stack = append(b.stack, t)
	if t == wasm.V128 {
		b.vector = true
	}
}

// pushNew adds an operand that is a new value.
func (b *body) pushNew(t wasm.ValueType) {
	b.push(t)
	b.usage.values++
	if t == wasm.V128 {
		b.usage.values++
	}
}

// pushAllNew adds operands that are new values.
func (b *body) pushAllNew(types []wasm.ValueType) {
	b.pushAll(types)
	b.usage.values += uint64(len(types) + bytes.Count(types, []byte{wasm.V128}))
}

func (b *body) pushAll(types []wasm.ValueType) {
	if bytes.IndexByte(types, wasm.V128) >= 0 {
		b.vector = true
	}
	b.stack = append(b.stack, types...)
	b.usage.moved += uint64(len(types))
}

// pop removes an operand of type want.
func (b *body) pop(want wasm.ValueType) {
	if n := len(b.stack) - 1; n >= b.height && b.stack[n] == want {
		b.stack = b.stack[:n]
		return
	}
	if got := b.popAny(); got != want && got != unknown {
		b.failHere("wants %s, found %s", abi.ValueType(want), abi.ValueType(got))
	}
}

// popAll removes operands of these types, the last first.
func (b *body) popAll(types []wasm.ValueType) {
	b.usage.moved += uint64(len(types))
	for i := len(types) - 1; i >= 0 && b.err == nil; i-- {
		if b.underflows && len(b.stack) == b.height {
			return
		}
		b.pop(types[i])
	}
}

// popAny removes an operand.
func (b *body) popAny() wasm.ValueType {
	n := len(b.stack) - 1
	if n < b.height {
		if !b.underflows {
			b.failHere("wants one operand more than there are")
		}
		return unknown
	}
	t := b.stack[n]
	b.stack = b.stack[:n]
	return t
}

// matches checks that the operands on top have these types, and leaves them.
func (b *body) matches(types []wasm.ValueType) {
	for i := range types {
		at, want := len(b.stack)-1-i, types[len(types)-1-i]
		if at < b.height {
			if !b.underflows {
				b.failHere("wants %d operands, found %d", len(types), i)
			}
			return
		}
		if got := b.stack[at]; got != want && got != unknown {
			b.failHere("wants %s, found %s", abi.ValueType(want), abi.ValueType(got))
			return
		}
	}
}

// enter opens a block, after its parameters were popped.
func (b *body) enter(op wasm.Opcode, params, results []wasm.ValueType) {
	b.frames = append(b.frames, frame{params: params, results: results, height: len(b.stack), entered: b.clock, op: op})
	b.height, b.underflows = len(b.stack), false
	b.pushAllNew(params)
}

// leave closes the innermost block and returns it.
func (b *body) leave() frame {
	f := b.frames[len(b.frames)-1]
	b.popAll(f.results)
	if b.err == nil && len(b.stack) != f.height {
		b.failHere("leaves %d operands too many", len(b.stack)-f.height)
	}
	b.frames = b.frames[:len(b.frames)-1]
	if n := len(b.frames); n > 0 {
		b.height, b.underflows = b.frames[n-1].height, b.frames[n-1].unreachable
	}
	return f
}

// unreachable marks the rest of the innermost block as unreachable.
func (b *body) unreachable() {
	f := &b.frames[len(b.frames)-1]
	f.unreachable, b.underflows = true, true
	b.stack = b.stack[:f.height]
}
