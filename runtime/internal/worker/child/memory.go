package child

import (
	"math"
	goruntime "runtime"
	"runtime/debug"
	"time"
)

const (
	// resumeAfter is how long after it is ready a worker collects the garbage of starting. A client may be waiting for the
	// first answer before that.
	resumeAfter = time.Second
	// startHeap is the size of Go's heap, in bytes, at which garbage is collected in spite of delayGC. Loading the largest
	// provider that is allowed takes less.
	startHeap = 256 << 20
	// guestHeap is by how much the heap may grow from when the guest runs, in bytes: a guest can produce garbage at once, as
	// by calls after each of which its instance is replaced.
	guestHeap = 24 << 20
)

// delayGC puts off the garbage collector: loading produces little garbage, and is over before a collection would end.
func delayGC() {
	debug.SetMemoryLimit(startHeap)
	debug.SetGCPercent(-1)
}

// limitHeap bounds the effect of delayGC for the time in which the guest runs.
func limitHeap() {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + guestHeap)
}

// resumeGC ends the effect of delayGC, and releases the memory that loading took: many times what serving takes.
func (c *child) resumeGC() {
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	debug.FreeOSMemory()
	c.program.unload()
}
