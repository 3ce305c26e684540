package guest

import (
	"errors"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/symbol"
)

// WithCrash returns err with a crash, without changing err. The cause of err, if it has one, is the reason.
func WithCrash(err error, crash *abi.Crash) error {
	var e *abi.Error
	if errors.As(err, &e) && e.Cause != nil {
		crash.Reason = e.Cause.Error()
	}
	return &crashError{err, crash}
}

// A crashError is the error of a call whose guest was stopped.
type crashError struct {
	error
	crash *abi.Crash
}

// Unwrap returns the error and the crash.
func (b *crashError) Unwrap() []error { return []error{b.error, b.crash} }

// CompleteCrash completes the crash in the chain of err, if there is one, with function names and with data of the call
// c. c is nil when the guest was starting.
func CompleteCrash(c *Call, err error, names func() symbol.Names) {
	crash := abi.CrashOf(err)
	if crash == nil {
		return
	}
	if c != nil {
		crash.Op, crash.URI, crash.Fuel, crash.LastLines = c.Op, c.Request.URI, c.used.Fuel, c.lastLines
	}
	if len(crash.Stack) == 0 {
		return
	}
	known := names()
	for i := range crash.Stack {
		f := &crash.Stack[i]
		f.Name = known.Of(f.Function)
	}
}

// maxLastLines is how many of the last lines of a call are stored.
const maxLastLines = 8

// keepLine stores the last lines of the guest.
func (c *Call) keepLine(line string) {
	if len(c.lastLines) == maxLastLines {
		c.lastLines = slices.Delete(c.lastLines, 0, 1)
	}
	c.lastLines = append(c.lastLines, line)
}
