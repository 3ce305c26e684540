package inflight

import (
	"context"
	"sync"
	"time"
)

// A Hold is the memory that one answer has reserved besides its buffer. It is safe for concurrent use. A nil Hold has no bound.
type Hold struct {
	budget *Budget

	mu       sync.Mutex // guards the fields below
	reserved int        // bytes
	used     int        // bytes of those
	ended    bool
}

// Hold makes a Hold that has reserved nothing. The caller calls End.
func (b *Budget) Hold() *Hold { return &Hold{budget: b} }

// Wait reserves n bytes for later, as [Budget.Wait] does, or the whole budget if that is less. The caller calls it first.
func (h *Hold) Wait(ctx context.Context, n int, patience time.Duration) error {
	n = min(n, h.budget.Most())
	if err := h.budget.Wait(ctx, n, patience); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reserved += n
	return nil
}

// Take uses n more bytes, and reports false when they exceed the budget or the Hold has ended.
func (h *Hold) Take(n int) bool {
	if h == nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	more := h.used + n - h.reserved
	if h.ended || !h.budget.Reserve(more) {
		return false
	}
	h.used += n
	h.reserved += max(more, 0)
	return true
}

// Fits reports whether n more bytes are within the budget now. It reserves nothing.
func (h *Hold) Fits(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.budget.fits(int64(h.used+n-h.reserved) * weight)
}

// Used is how many bytes were taken.
func (h *Hold) Used() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.used
}

// Trim releases the bytes that are reserved and not used.
func (h *Hold) Trim() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.budget.Release(h.reserved - h.used)
	h.reserved = h.used
}

// End releases everything. It is idempotent. Take fails afterwards.
func (h *Hold) End() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.budget.Release(h.reserved)
	h.reserved, h.used, h.ended = 0, 0, true
}

type holdKey struct{}

// With returns a context whose calls take the memory of their results from h.
func With(ctx context.Context, h *Hold) context.Context { return context.WithValue(ctx, holdKey{}, h) }

// Of is the Hold of a context; nil when it has none.
func Of(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{}).(*Hold)
	return h
}
