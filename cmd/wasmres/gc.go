package main

import (
	"os"
	"runtime/debug"
)

const (
	// ballastSize and gcPercent let 18 MiB of garbage gather, and 3/4 of what is in use beside. With Go's own pace a server
	// with little to keep collects dozens of times a second, each time at the cost of those requests that are under way.
	// One that keeps much, 72 MiB or more, collects sooner than with Go's pace, which the budgets for memory count with.
	ballastSize = 24 << 20 // bytes
	gcPercent   = 75
)

// ballast is memory that Go counts as in use at each collection, and that takes none of the machine's, since the process
// never touches it. A percentage that follows the heap would be late when the heap grows: set for a small one, it would
// let a large one grow to many times its size.
var ballast []byte

// tuneGC spaces out collections of a small heap. It leaves alone what the operator has set by GOGC. It is called before
// anything large is allocated, since memory that was in use before would be cleared, and so touched.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		ballast = make([]byte, ballastSize)
		debug.SetGCPercent(gcPercent)
	}
}
