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

	// weight is how often each byte counts: the garbage collector allows as much garbage as there is memory in use.
	weight = 2
)

// A Budget is the memory that all answers together may take. It is safe for concurrent use. A nil Budget has no bound.
//
// Only Wait blocks. A request calls it before it reserves anything, so that requests cannot wait for each other.
type Budget struct {
	most int64 // bytes, each counted weight times

	used    atomic.Int64
	waiting atomic.Int64 // length of queue

	mu    sync.Mutex // guards the field below
	queue list.List  // of *waiter, the oldest in front
}

type waiter struct {
	size  int64
	ready chan struct{} // closed when size is reserved
}

// New makes a Budget of that many bytes; 0 is for Default.
func New(bytes int64) *Budget {
	if bytes == 0 {
		bytes = Default
	}
	return &Budget{most: bytes}
}

// Most is the most bytes that can be reserved.
func (b *Budget) Most() int {
	if b == nil {
		return math.MaxInt
	}
	return int(b.most / weight)
}

// Used is the reserved part of the budget, in bytes, each counted weight times.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Reserve reserves n bytes, and reports false when they exceed the budget now.
func (b *Budget) Reserve(n int) bool {
	if b == nil || n <= 0 {
		return true
	}
	return b.take(int64(n) * weight)
}

// fits reports whether size, of bytes counted weight times, is within the budget now.
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

// Release releases n reserved bytes.
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

// Wait reserves n bytes. While they exceed the budget, or others wait, it waits in the queue: until ctx ends, or patience has
// passed. The error is that of ctx, or [abi.CodeBusy].
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

// serveLocked reserves for the waiters at the front of the queue, until one exceeds the budget.
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

// quit removes a waiter, and releases its bytes if it has been served meanwhile.
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

// Busy is the error for an answer that exceeds the budget. The client may try again after retry.
func Busy(retry time.Duration) error {
	return abi.Busy(retry, "Answers that clients have not read yet take all the memory there is for them, try again later")
}
