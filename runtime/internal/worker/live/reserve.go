package live

import (
	"context"
	"sync"
)

// Reserve waits, until ctx ends, for memory of the group that something other than a worker is about to use, as a compilation. bytes
// beyond maxReserved of Config.Memory do not count, so that workers have the rest. Workers that are unused are stopped for
// it; starts that find memory do not wait for it while all workers are in use. The caller calls release when the memory is no longer used;
// release is idempotent. The error is [abi.CodeUnavailable] with the time to retry after.
func (g *Group) Reserve(ctx context.Context, bytes int64) (release func(), err error) {
	g.mu.Lock()
	if g.cfg.Memory > 0 {
		bytes = min(bytes, g.cfg.Memory/maxReserved)
	}
	g.mu.Unlock()
	w := &waiter{bytes: max(bytes, 0), granted: make(chan *Place, 1)}
	if _, err := g.wait(ctx, w); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.reserved -= w.bytes
		g.reservations--
		g.dispatchLocked()
	}), nil
}

// maxReserved is the part of Config.Memory that one reservation has at most.
const maxReserved = 2
