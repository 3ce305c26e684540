package live

import (
	"context"
	"sync"
)

// A Reservation is memory that something other than a worker is about to use, as a compilation.
type Reservation struct {
	Owner any   // as that of Enter
	Bytes int64 // those beyond half of Config.Memory do not count
	// Seldom says that the owner cannot repeat the work as often as it likes. Workers of owners within their shares are stopped for it as
	// well, after all others.
	Seldom bool
}

// Reserve waits, until ctx ends, for memory of the group. One owner has reserved half of Config.Memory at most, and all together three
// quarters, so that workers have the rest; what an owner has reserved counts in its share. Workers that are unused are stopped for it as for
// a start; starts and reservations that find memory do not wait for one that finds no worker to stop. The caller calls release when the
// memory is no longer used; release is idempotent. The error is [abi.CodeUnavailable] with the time to retry after.
func (g *Group) Reserve(ctx context.Context, r Reservation) (release func(), err error) {
	w := &waiter{owner: r.Owner, bytes: max(r.Bytes, 0), seldom: r.Seldom, granted: make(chan *Place, 1)}
	g.mu.Lock()
	if g.cfg.Memory > 0 {
		w.bytes = min(w.bytes, g.cfg.Memory/2)
	}
	g.mu.Unlock()
	if _, err := g.wait(ctx, w); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.reservations, w)
		g.dispatchLocked()
	}), nil
}

func (g *Group) reservedLocked() (bytes int64) {
	for r := range g.reservations {
		bytes += r.bytes
	}
	return bytes
}

// mayReserveLocked reports whether the reservations are within their bounds with one more.
func (g *Group) mayReserveLocked(w *waiter) bool {
	all, own := w.bytes, w.bytes
	for r := range g.reservations {
		all += r.bytes
		if r.owner == w.owner {
			own += r.bytes
		}
	}
	return g.cfg.Memory == 0 || len(g.reservations) == 0 || own <= g.cfg.Memory/2 && all <= g.cfg.Memory/4*3
}
