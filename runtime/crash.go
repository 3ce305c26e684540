package runtime

import (
	"errors"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// crash makes one of the error of an engine. It leaves out functions that metering has added.
func (l *local) crash(err error) *abi.Crash {
	var trap *engine.Trap
	if !errors.As(err, &trap) {
		return abi.NewCrash(guest.Truncate(err).Error(), nil)
	}
	var functions []uint32
	for _, index := range trap.Stack {
		if original, ok := l.Code.Original(index); ok {
			functions = append(functions, original)
		}
	}
	return abi.NewCrash(trap.Reason, functions)
}
