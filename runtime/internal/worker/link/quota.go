package link

import (
	goruntime "runtime"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const (
	// freeMessages is how many messages of a call are handled without measuring. Most calls have fewer.
	freeMessages = 16
	// quotaParts bounds the parent's work for the messages of one module, while others are called, to one part in so
	// many of a processor.
	quotaParts = 4
	// quotaAhead is by how much that work may exceed its share for a short time.
	quotaAhead = 10 * time.Millisecond
	// minPause and maxPause bound one pause: the system would prolong a shorter one.
	minPause, maxPause = time.Millisecond, 5 * time.Millisecond
)

// A Quota bounds the parent's work for the messages of one module. While the parent pauses, the worker can send no more
// than its socket holds, and its guest waits. The zero value is that of a module that has sent nothing. It is safe for
// concurrent use.
type Quota struct {
	mu        sync.Mutex
	paidUntil time.Time // when the share covers all work done; guarded by mu
}

// charge adds work that ends now, and returns how long the module must wait for it.
func (q *Quota) charge(work time.Duration, now time.Time) (owed time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.paidUntil.Before(now) {
		q.paidUntil = now
	}
	q.paidUntil = q.paidUntil.Add(quotaParts * work)
	return q.paidUntil.Sub(now) - quotaAhead
}

// isMeasured reports whether the work for the next message of a call is measured. The first messages are not, nor are
// those for which the parent may wait for clients and services.
func (c *pendingCall) isMeasured(kind protocol.Kind) bool {
	if c.messages++; c.messages <= freeMessages {
		return false
	}
	return kind == protocol.KindFrame || kind == protocol.KindChanged || kind == protocol.KindLog
}

// charge charges the work for a message since began, and pauses if the module exceeds its quota and others are called.
func (l *link) charge(c *pendingCall, began time.Time) {
	if c.messages%freeMessages == 0 {
		goruntime.Gosched() // otherwise Go may run this goroutine for 10 ms
	}
	now := time.Now()
	work := now.Sub(began)
	c.call.Worked(work)
	owed := l.set.module.Quota.charge(work, now)
	if owed < minPause || !l.set.cfg.Process.Contended() {
		return
	}
	left := time.Duration(l.due.Load()) - now.Sub(l.set.began)
	time.Sleep(min(owed, maxPause, left))
}
