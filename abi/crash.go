package abi

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// A Crash is the private cause of a call in which the guest trapped or the host stopped it. Logs and terminals show it
// to the provider's author; clients never get it.
type Crash struct {
	Reason string  // in a few words
	Stack  []Frame // the functions that were running, innermost first, at most 32; nil when unknown

	// The fields below are of the call; they are zero when the guest was starting.
	Op        Op
	URI       string
	Fuel      uint64   // used
	LastLines []string // logged or written by the guest last, as far as the log level allows; at most eight
}

// maxFrames bounds the stack of a [Crash].
const maxFrames = 32

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

// Functions returns the indices of the functions that were running, innermost first.
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
		slog.String("reason", c.Reason), slog.String("op", c.Op.String()), slog.Uint64("fuel", c.Fuel),
		slog.String("stack", strings.Join(stack, " < ")),
		slog.String("said", strings.Join(c.LastLines, "\n")),
	)
}

// CrashOf returns the [Crash] in the chain of err; nil when there is none.
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

// NewCrash makes the crash of a guest in which these functions were running, innermost first.
func NewCrash(reason string, functions []uint32) *Crash {
	c := &Crash{Reason: reason}
	for _, index := range functions[:min(len(functions), maxFrames)] {
		c.Stack = append(c.Stack, Frame{Function: index})
	}
	return c
}
