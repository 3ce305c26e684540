package worker

import (
	goruntime "runtime"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const (
	// quotaFree is how many messages of a call are heard without a look at the clock. Most calls have fewer.
	quotaFree = 16
	// quotaParts bounds the work of this process for the messages of one module, while others are called: it may use one
	// part in so many of a processor.
	quotaParts = 4
	// quotaAhead is for how long that work may run ahead of its share.
	quotaAhead = 10 * time.Millisecond
	// quotaLeast and quotaMost bound one pause: a shorter one would last longer than it should.
	quotaLeast, quotaMost = time.Millisecond, 5 * time.Millisecond
)

// A quota bounds the work that this process does for the messages of one module. While this process pauses, the worker can
// send no more than its socket holds, and its guest waits. The zero value is that of a module that has sent nothing. It is
// safe for concurrent use.
type quota struct {
	mu   sync.Mutex
	paid time.Time // when the share allows for all that was done; guarded by mu
}

// charge adds work that has ended now, and gives for how long the module has to wait for it.
func (t *quota) charge(work time.Duration, now time.Time) (owed time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paid.Before(now) {
		t.paid = now
	}
	t.paid = t.paid.Add(quotaParts * work)
	return t.paid.Sub(now) - quotaAhead
}

// measured reports whether the work for the next message of a call is measured: not for the first ones, nor for those
// over which this process may wait for clients and services.
func (t *trip) measured(kind protocol.Kind) bool {
	if t.messages++; t.messages <= quotaFree {
		return false
	}
	return kind == protocol.KindFrame || kind == protocol.KindChanged || kind == protocol.KindLog
}

// pay charges the work for a message that began then, and pauses if something is owed and other modules are called.
func (l *link) pay(t *trip, began time.Time) {
	if t.messages%quotaFree == 0 {
		goruntime.Gosched() // by itself Go would let this goroutine run for 10 ms
	}
	now := time.Now()
	work := now.Sub(began)
	t.call.Worked(work)
	owed := l.worker.guests.quota.charge(work, now)
	if owed < quotaLeast || !l.worker.runner.crowd.beside(l.worker.guests) {
		return
	}
	left := time.Duration(l.due.Load()) - now.Sub(l.worker.began)
	time.Sleep(min(owed, quotaMost, left))
}
