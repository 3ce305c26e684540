//go:build wasmtime && cgo && linux && amd64

package wasmtime

// #include "sandbox.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// reasons are the texts of traps by their codes: the same as of the other engine.
var reasons = map[C.uint8_t]string{
	0: stackOverflow, 1: "out of bounds memory access", 3: "invalid table access", 4: "invalid table access",
	5: "indirect call type mismatch", 6: "integer overflow", 7: "integer divide by zero", 8: "invalid conversion to integer",
	9: "unreachable",
}

const stackOverflow = "stack overflow"

// maxFrames bounds the functions of a trap: as many as the other engine records.
const maxFrames = 30

// failed returns the error of an outcome, which it releases; nil for none.
func (i *instance) failed(o C.outcome) error {
	if o.trap == nil {
		return take(o.error)
	}
	defer C.wasm_trap_delete(o.trap)
	trap := &engine.Trap{Stack: functions(o.trap)}
	var code C.uint8_t
	var stop engine.Stop
	switch {
	case i.stopped != nil:
		trap.Err, trap.Reason = i.stopped, i.stopped.Error()
		if errors.As(i.stopped, &stop) {
			trap.Reason = "stopped by the host"
		}
	case bool(C.wasmtime_trap_code(o.trap, &code)) && reasons[code] != "":
		trap.Reason = reasons[code]
		trap.Err = fmt.Errorf("wasm error: %s", trap.Reason)
		if trap.Reason == stackOverflow {
			trap.Err = fmt.Errorf("%w: %w", engine.ErrStack, trap.Err)
			trap.Stack = nil
		}
	default:
		var message C.wasm_byte_vec_t
		C.wasm_trap_message(o.trap, &message)
		trap.Err, trap.Reason = errors.New(takeText(&message)), "trap of the engine"
	}
	i.stopped = nil
	return trap
}

// functions returns the indices of the functions that were running.
func functions(trap *C.wasm_trap_t) (indices []uint32) {
	var frames C.wasm_frame_vec_t
	C.wasm_trap_trace(trap, &frames)
	defer C.wasm_frame_vec_delete(&frames)
	for _, f := range unsafe.Slice(frames.data, min(int(frames.size), maxFrames)) {
		indices = append(indices, uint32(C.wasm_frame_func_index(f)))
	}
	return indices
}
