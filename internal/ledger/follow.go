package ledger

import (
	"context"
	"sync"
)

// growth tells goroutines that there are more entries. The zero value is usable.
type growth struct {
	mu    sync.Mutex
	grown chan struct{} // closed at the next entry; nil while no goroutine waits; guarded by mu
}

func (g *growth) next() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.grown == nil {
		g.grown = make(chan struct{})
	}
	return g.grown
}

func (g *growth) tell() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.grown != nil {
		close(g.grown)
		g.grown = nil
	}
}

// Newest returns the number of the newest entry on disk; zero for none.
func (l *Ledger) Newest() uint64 { return l.acknowledged.Load() }

// Await waits until an entry with a higher number is on disk, and returns the number of the newest one. Its error is that of ctx, or
// ErrClosed.
func (l *Ledger) Await(ctx context.Context, after uint64) (newest uint64, err error) {
	for {
		grown := l.growth.next() // before the look, so that no entry is missed
		if newest := l.Newest(); newest > after {
			return newest, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-l.closing:
			return 0, ErrClosed
		}
	}
}
