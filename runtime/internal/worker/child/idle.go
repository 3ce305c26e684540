package child

import (
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

const (
	// idleAfter is how long no call has ended before the worker releases memory. It does so at most twice that time after the
	// last one.
	idleAfter = time.Second
	// keepHeap is by how much Go's heap may have grown before it is worth a collection.
	keepHeap = 512 << 10
)

// An idleTimer has memory released when no call has ended for a while. It is safe for concurrent use.
type idleTimer struct {
	release func() // called by one goroutine at a time; fixed before the first call

	called atomic.Bool // since check looked last
	isSet  atomic.Bool // check will be called
}

// note notes the end of a call.
func (t *idleTimer) note() {
	if !t.called.Load() {
		t.called.Store(true)
	}
	t.set()
}

func (t *idleTimer) set() {
	if !t.isSet.Load() && t.isSet.CompareAndSwap(false, true) {
		time.AfterFunc(idleAfter, t.check) // ends with the process
	}
}

func (t *idleTimer) check() {
	if t.called.Swap(false) {
		time.AfterFunc(idleAfter, t.check)
		return
	}
	t.release()
	t.isSet.Store(false)
	if t.called.Load() { // meanwhile, and note has set no timer
		t.set()
	}
}

// releaseMemory releases what no call needs while none runs: native code, and what calls have left on Go's heap.
func (c *child) releaseMemory() {
	c.unloadCode()
	if memoryOfGo() > c.heap.Load()+keepHeap {
		debug.FreeOSMemory()
		c.heap.Store(memoryOfGo())
	}
}

// unloadCode releases the pages of native code. The kernel takes a page from the file again when it is needed.
func (c *child) unloadCode() {
	if t, ok := c.guests.(engine.Trimmer); ok {
		t.Trim()
	}
}
