package inflight

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	// Free is the size up to which the buffer of an answer is not counted, in bytes.
	Free = 16 << 10
	// Default is the size of a budget unless the operator sets one, in bytes.
	Default = 256 << 20
	// Min is the size of the smallest budget, in bytes.
	Min = 8 << 20

	// weight is how often each byte counts: the garbage collector lets as much garbage gather as there is memory in use.
	weight = 2
)

// A Budget is the memory that all answers together may take. It is safe for concurrent use. A nil Budget has no bound.
//
// No method waits while its caller holds a part of the budget, but for Wait, which is called before anything is held:
// so requests cannot wait for each other.
type Budget struct {
	most int64 // bytes, each counted weight times

	used    atomic.Int64
	waiting atomic.Int64 // length of queue

	mu    sync.Mutex // guards the field below
	queue list.List  // of *waiter, the one that has waited for longest in front
}

type waiter struct {
	size  int64
	ready chan struct{} // closed when size is reserved
}

// New makes a Budget of so many bytes; 0 means Default.
func New(bytes int64) *Budget {
	if bytes == 0 {
		bytes = Default
	}
	return &Budget{most: bytes}
}

// Most is how many bytes can be reserved at most.
func (b *Budget) Most() int {
	if b == nil {
		return math.MaxInt
	}
	return int(b.most / weight)
}

// Used is how much of the budget is reserved, in bytes, each counted as the budget does.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Reserve reserves n bytes, and reports false when there is no room for them now.
func (b *Budget) Reserve(n int) bool {
	if b == nil || n <= 0 {
		return true
	}
	return b.take(int64(n) * weight)
}

// fits reports whether there is room for so much, counted as the budget does.
func (b *Budget) fits(size int64) bool { return b == nil || b.used.Load()+size <= b.most }

func (b *Budget) take(size int64) bool {
	for {
		used := b.used.Load()
		if used+size > b.most {
			return false
		}
		if b.used.CompareAndSwap(used, used+size) {
			return true
		}
	}
}

// Force reserves n bytes that are in use already, even beyond the budget.
func (b *Budget) Force(n int) {
	if b != nil {
		b.used.Add(int64(n) * weight)
	}
}

// Release gives n reserved bytes back.
func (b *Budget) Release(n int) {
	if b == nil || n == 0 {
		return
	}
	b.used.Add(-int64(n) * weight)
	if b.waiting.Load() > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.serveLocked()
	}
}

// Wait reserves n bytes. While there is no room for them, or others wait, it waits for its turn: until ctx ends, or for
// as long as patience. The error is that of ctx, or [abi.CodeBusy].
func (b *Budget) Wait(ctx context.Context, n int, patience time.Duration) error {
	if b == nil || b.waiting.Load() == 0 && b.Reserve(n) {
		return nil
	}
	w := &waiter{size: int64(n) * weight, ready: make(chan struct{})}
	at := b.enqueue(w)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		b.quit(at)
		return ctx.Err()
	case <-timer.C:
		b.quit(at)
		return Busy(patience)
	}
}

func (b *Budget) enqueue(w *waiter) *list.Element {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.queue.PushBack(w)
	b.waiting.Add(1)
	b.serveLocked()
	return at
}

// serveLocked reserves for the waiters at the front of the queue, as long as there is room.
func (b *Budget) serveLocked() {
	for at := b.queue.Front(); at != nil; at = b.queue.Front() {
		w := at.Value.(*waiter)
		if !b.take(w.size) {
			return
		}
		b.queue.Remove(at)
		b.waiting.Add(-1)
		close(w.ready)
	}
}

// quit ends the waiting of one that may have been served meanwhile.
func (b *Budget) quit(at *list.Element) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := at.Value.(*waiter)
	select {
	case <-w.ready:
		b.used.Add(-w.size)
	default:
		b.queue.Remove(at)
		b.waiting.Add(-1)
	}
	b.serveLocked()
}

// Busy is the error for an answer that the budget has no room for. retry says after which time there may be.
func Busy(retry time.Duration) error {
	return abi.Busy(retry, "Answers that clients have not read yet take all the memory there is for them, try again later")
}
