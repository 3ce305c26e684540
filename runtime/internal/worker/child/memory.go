package child

import (
	"math"
	goruntime "runtime"
	"runtime/debug"
	"time"
)

const (
	// resumeAfter is how long after it is ready a worker collects the garbage of starting: first it answers a client
	// that may be waiting.
	resumeAfter = time.Second
	// startHeap is the size of Go's heap, in bytes, at which garbage is collected despite delayGC. Loading the largest
	// permitted provider takes less.
	startHeap = 256 << 20
	// guestHeap is by how much the heap may grow while the guest runs, in bytes. A guest can make garbage at once, as
	// by calls that each cost it its instance.
	guestHeap = 24 << 20
)

// delayGC suspends the garbage collector: loading makes little garbage, and ends sooner than a collection would.
func delayGC() {
	debug.SetMemoryLimit(startHeap)
	debug.SetGCPercent(-1)
}

// limitHeap bounds the effect of delayGC while the guest runs.
func limitHeap() {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + guestHeap)
}

// resumeGC ends the effect of delayGC, and releases the memory that loading took: many times that of serving.
func (c *child) resumeGC() {
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	debug.FreeOSMemory()
	c.program.unload()
}
