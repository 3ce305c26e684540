package runtime

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/engine"
)

// A Crash is the private cause of a call that ended in the middle of the guest, which trapped or was stopped: what its
// author wants to know. It is for logs and terminals, and nothing of it for clients.
type Crash struct {
	Reason string  // in a few words
	Stack  []Frame // the functions that were running, innermost first, at most [MaxFrames]; nil when unknown

	// of the call; zero when the guest was starting
	Op   abi.Op
	URI  string
	Fuel uint64   // used
	Said []string // the last lines it logged or wrote, as far as they are loud enough for the log; at most eight
}

// MaxFrames bounds the stack of a [Crash].
const MaxFrames = 32

// A Frame is a function that was running.
type Frame struct {
	Function uint32 // its index in the module
	Name     string // one line; empty when unknown
}

func (f Frame) String() string {
	if f.Name == "" {
		return fmt.Sprintf("function %d", f.Function)
	}
	return f.Name
}

func (c *Crash) Error() string { return c.Reason }

// Functions gives the indices of the functions that were running, innermost first.
func (c *Crash) Functions() []uint32 {
	indices := make([]uint32, len(c.Stack))
	for i, f := range c.Stack {
		indices[i] = f.Function
	}
	return indices
}

// LogValue implements [slog.LogValuer].
func (c *Crash) LogValue() slog.Value {
	stack := make([]string, len(c.Stack))
	for i, f := range c.Stack {
		stack[i] = f.String()
	}
	return slog.GroupValue(
		slog.String("reason", c.Reason), slog.String("op", c.Op.String()), slog.Uint64("fuel", c.Fuel), slog.String("stack", strings.Join(stack, " < ")),
		slog.String("said", strings.Join(c.Said, "\n")),
	)
}

// CrashOf gives the [Crash] in the chain of err; nil when there is none.
func CrashOf(err error) *Crash {
	if err == nil { // and there is nothing to allocate
		return nil
	}
	return findCrash(err)
}

func findCrash(err error) *Crash {
	var c *Crash
	errors.As(err, &c)
	return c
}

// At makes the crash of a guest in which these functions were running, innermost first.
func At(reason string, functions []uint32) *Crash {
	c := &Crash{Reason: reason}
	for _, index := range functions[:min(len(functions), MaxFrames)] {
		c.Stack = append(c.Stack, Frame{Function: index})
	}
	return c
}

// crash makes one of the error of an engine. Functions that metering has added are nobody's.
func (l *local) crash(err error) *Crash {
	var trap *engine.Trap
	if !errors.As(err, &trap) {
		return At(clip(err).Error(), nil)
	}
	var functions []uint32
	for _, index := range trap.Stack {
		if original, ok := l.code.Original(index); ok {
			functions = append(functions, original)
		}
	}
	return At(trap.Reason, functions)
}

// blame adds a crash to err, which may be somebody else's and is not changed. A cause that it has is the reason.
func blame(err error, crash *Crash) error {
	var e *abi.Error
	if errors.As(err, &e) && e.Cause != nil {
		crash.Reason = e.Cause.Error()
	}
	return &blamed{err, crash}
}

// A blamed error is that of a call in which a guest was stopped.
type blamed struct {
	error
	crash *Crash
}

// Unwrap gives the error, and the crash.
func (b *blamed) Unwrap() []error { return []error{b.error, b.crash} }

// investigate completes the crash in the chain of err, if there is one: with names, and what is known of the call c,
// which is nil when the guest was starting.
func (m *Module) investigate(c *Call, err error) {
	crash := CrashOf(err)
	if crash == nil {
		return
	}
	if c != nil {
		crash.Op, crash.URI, crash.Fuel, crash.Said = c.Op, c.Request.URI, c.used.Fuel, c.said
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
