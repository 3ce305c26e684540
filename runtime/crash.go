package runtime

import (
	"errors"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
)

// crash makes one of the error of an engine. It leaves out functions that metering has added.
func (l *local) crash(err error) *abi.Crash {
	var trap *engine.Trap
	if !errors.As(err, &trap) {
		return abi.NewCrash(clip(err).Error(), nil)
	}
	var functions []uint32
	for _, index := range trap.Stack {
		if original, ok := l.Code.Original(index); ok {
			functions = append(functions, original)
		}
	}
	return abi.NewCrash(trap.Reason, functions)
}

// blame adds a crash to err, which may be somebody else's and is not changed. A cause that it has is the reason.
func blame(err error, crash *abi.Crash) error {
	var e *abi.Error
	if errors.As(err, &e) && e.Cause != nil {
		crash.Reason = e.Cause.Error()
	}
	return &blamed{err, crash}
}

// A blamed error is that of a call in which a guest was stopped.
type blamed struct {
	error
	crash *abi.Crash
}

// Unwrap gives the error, and the crash.
func (b *blamed) Unwrap() []error { return []error{b.error, b.crash} }

// investigate completes the crash in the chain of err, if there is one: with names, and what is known of the call c,
// which is nil when the guest was starting.
func (m *Module) investigate(c *Call, err error) {
	crash := abi.CrashOf(err)
	if crash == nil {
		return
	}
	if c != nil {
		crash.Op, crash.URI, crash.Fuel, crash.LastLines = c.Op, c.Request.URI, c.used.Fuel, c.said
	}
	if len(crash.Stack) == 0 {
		return
	}
	names := m.symbols()
	for i := range crash.Stack {
		f := &crash.Stack[i]
		f.Name = names.Of(f.Function)
	}
}

// maxSaid is how many of the last lines of a call are kept.
const maxSaid = 8

// remember keeps the last lines of the guest.
func (c *Call) remember(line string) {
	if len(c.said) == maxSaid {
		c.said = slices.Delete(c.said, 0, 1)
	}
	c.said = append(c.said, line)
}
