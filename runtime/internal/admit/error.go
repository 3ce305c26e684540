package admit

import (
	"fmt"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A LimitError names the limit that a module exceeds. It is the cause of an [abi.Error] with the same text.
type LimitError struct {
	Limit          string // its name, as "total_locals" for TotalLocals, or "memory" for Config.MemoryPages
	Found, Allowed uint64 // for cost in nanoseconds, for memory in pages
	Where          string // "function 3", "the module"
}

func (e *LimitError) Error() string {
	switch e.Limit {
	case limitMemory:
		return fmt.Sprintf("the module starts with %s of memory, the limit is %s; --memory raises it", pages(e.Found), pages(e.Allowed))
	case limitCost:
		return fmt.Sprintf("too long to compile: by %s %v are estimated, at most %v are allowed (limit cost)",
			e.Where, duration(e.Found), duration(e.Allowed))
	}
	return fmt.Sprintf("too many %s: %s has %s, at most %s are allowed (limit %s)",
		e.unit(), e.Where, grouped(e.Found), grouped(e.Allowed), e.Limit)
}

// Limits that are not counts.
const (
	limitMemory = "memory"
	limitCost   = "cost"
)

func (e *LimitError) unit() string {
	for _, c := range counts {
		if c.Name == e.Limit {
			return c.Unit
		}
	}
	return "of " + e.Limit
}

// public makes the [abi.Error] for a caller.
func (e *LimitError) public() error {
	code := abi.CodeModule
	if e.Limit == limitMemory {
		code = abi.CodeMemory
	}
	return abi.Errorf(code, "%v", e).Because(e)
}

// grouped writes n with a comma before every three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func duration(ns uint64) time.Duration {
	d := time.Duration(min(ns, 1<<62))
	return d.Round(10 * time.Millisecond)
}

// pages returns a number of pages of 64 KiB as a size.
func pages(n uint64) string {
	if n%16 == 0 {
		return fmt.Sprintf("%d MiB", n/16)
	}
	return fmt.Sprintf("%d KiB", n*64)
}
