package worker

import (
	"math"
	goruntime "runtime"
	"runtime/debug"
	"time"
)

const (
	// restTime is how long after it got ready a worker gives back what getting ready took. There is somebody waiting for
	// the first answer before that.
	restTime = time.Second
	// heldHeap is how much memory Go's heap may take, in bytes, before garbage is collected in spite of hold. Loading
	// the largest provider there may be takes less.
	heldHeap = 256 << 20
	// guestHeap is how much more than after loading it may take from when the guest runs, in bytes: a guest can have garbage
	// made at once, as by calls after each of which its instance is replaced.
	guestHeap = 24 << 20
)

// hold puts off the collection of garbage: loading makes little of it, and is over before the collector has got going.
func hold() {
	debug.SetMemoryLimit(heldHeap)
	debug.SetGCPercent(-1)
}

// holdLess bounds what hold has begun for the time in which the guest runs.
func holdLess() {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + guestHeap)
}

// rest ends what hold began, and gives back what loading took: many times what serving does.
func (c *child) rest() {
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	debug.FreeOSMemory()
	c.program.forget()
}
