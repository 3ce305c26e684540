package child

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
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
func limitHeap() { debug.SetMemoryLimit(memoryOfGo() + guestHeap) }

// memoryOfGo returns what counts for the memory limit, in bytes. [goruntime.ReadMemStats] would stop all goroutines.
func memoryOfGo() int64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return int64(all[0].Value.Uint64() - all[1].Value.Uint64())
}

// resumeGC ends the effect of delayGC, and releases the memory that loading took: many times that of serving.
func (c *child) resumeGC() {
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	debug.FreeOSMemory()
	c.heap.Store(memoryOfGo())
	c.program.unload()
	c.unloadCode()
}
