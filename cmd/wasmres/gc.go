package main

import (
	"os"
	"runtime/debug"
)

const (
	// ballastSize and gcPercent start a collection after 18 MiB of garbage and 3/4 of the heap in use. With Go's default, a
	// server with a small heap collects dozens of times a second, and each collection slows down the running requests. A
	// server with a heap of 72 MiB or more collects sooner than by default, which the budgets for memory rely on.
	ballastSize = 24 << 20 // bytes
	gcPercent   = 75
)

// ballast is memory that Go counts as in use. It takes no physical memory, since the process never touches it. A percentage
// adjusted to the heap would be late when the heap grows: one for a small heap would let a large one grow to many times its
// size.
var ballast []byte

// tuneGC makes collections of a small heap rarer, unless the operator has set GOGC. It must be called before anything large
// is allocated: Go would clear, and so touch, memory that was in use before.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		ballast = make([]byte, ballastSize)
		debug.SetGCPercent(gcPercent)
	}
}
