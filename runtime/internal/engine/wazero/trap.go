package wazero

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// stackTitle is what wazero writes between an error and the stack.
const stackTitle = "\nwasm stack trace:\n"

// stackOverflow is the message of an error that wazero does not export.
const stackOverflow = "stack overflow"

// trapped makes a trap of the error of a call, in which wazero writes the stack as text. A metered module has no names, so
// the guest has no influence on that text.
func trapped(err error) error {
	text, stack := err.Error(), ""
	if at := strings.LastIndex(text, stackTitle); at >= 0 {
		text, stack = text[:at], text[at:]
	}
	trap := &engine.Trap{Err: err, Reason: strings.TrimPrefix(text, "wasm error: "), Stack: functions(stack)}
	switch stop := (engine.Stop{}); {
	case trap.Reason == stackOverflow:
		trap.Err = fmt.Errorf("%w: %w", engine.ErrStack, err)
	case errors.As(err, &stop):
		trap.Reason = "stopped by the host"
	}
	return trap
}

// functions returns the indices in a stack of lines like "\t.$12(i32,i32) i32". Host functions have names instead.
func functions(stack string) (indices []uint32) {
	for line := range strings.Lines(stack) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "(")
		number, ours := strings.CutPrefix(name, ".$")
		if index, err := strconv.ParseUint(number, 10, 32); ours && err == nil {
			indices = append(indices, uint32(index))
		}
	}
	return indices
}
