package sqlite

import (
	"sync/atomic"
	"time"
)

const (
	lookTime    = 500 * time.Microsecond // for which a helper looks at its box after an answer; reads in a worker are some 400 µs apart
	awaitTime   = 200 * time.Microsecond // for which the parent awaits an answer there: see late
	quickAnswer = 200 * time.Microsecond // of an answer by the pipes after which one by the box pays
	startCount  = 8                      // requests in a row that must come and be answered soon before the helper looks
	maxPenalty  = 64                     // requests for which it does not look after it has looked in vain
	heldTime    = time.Millisecond       // for which a session that does not query keeps others from looking
	turnTime    = 100 * time.Millisecond // after which a helper that looks lets another one look that would
	restTime    = 10 * time.Millisecond  // for which no helper looks after an answer that came late
)

// A pace decides when the helper of a session looks at its box: while requests come so closely that looking takes less time than
// waking. A process that looks has a processor for itself, for which its provider does not pay. So no more than one helper of this
// process looks, helpers take turns, and none looks for a while after the system has given that processor to another process. The
// zero value is ready for use. It belongs to one goroutine at a time.
type pace struct {
	looks    bool      // the helper looks after each answer
	fresh    bool      // it is told so with the next request, and may take long to wake on another processor
	count    int       // requests in a row that came and were answered soon; below zero after looking in vain
	since    int       // requests since the helper looks
	penalty  int       // of the last time in vain
	answered time.Time // the last answer
}

// looking has the one pace whose helper may look. Times are in nanoseconds since loaded.
var looking struct {
	owner  atomic.Pointer[pace]
	began  atomic.Int64 // its turn
	last   atomic.Int64 // its last answer
	wanted atomic.Int64 // when the helper of another one would have looked last
	rests  atomic.Int64 // until when no helper looks
}

var loaded = time.Now()

// hold reports whether this is the pace whose helper may look.
func (p *pace) hold(now time.Time) bool {
	at := int64(now.Sub(loaded))
	owner := looking.owner.Load()
	switch {
	case at < looking.rests.Load():
		return false
	case owner == p:
		if at-looking.began.Load() >= int64(turnTime) && at-looking.wanted.Load() < int64(heldTime) {
			p.count = -startCount // or it might begin the next turn, too
			return false
		}
	case owner != nil && at < looking.last.Load()+int64(heldTime):
		looking.wanted.Store(at)
		return false
	case !looking.owner.CompareAndSwap(owner, p):
		return false
	default:
		looking.began.Store(at)
	}
	looking.last.Store(at)
	return true
}

// set says whether the helper looks from now on. false lets the helper of another session look.
func (p *pace) set(looks bool) {
	p.looks, p.fresh, p.since = looks, looks, 0
	if !looks {
		looking.owner.CompareAndSwap(p, nil)
	}
}

// missed ends looking for a while, because a request or its answer has not come in time. The while is longer each time, unless
// many requests have come before.
func (p *pace) missed() {
	if p.penalty = min(max(2*p.penalty, startCount), maxPenalty); p.since > p.penalty {
		p.penalty = startCount
	}
	p.count = -p.penalty
	p.set(false)
}

// late is missed for an answer that has not come in time. The statement takes long, or the system has given the processor of the
// helper to another process: this process does not know which, so that no helper looks for restTime. Each 10 ms Go's scheduler takes
// the goroutine of a helper that looks from its thread, and returns it within some 150 µs: awaitTime is longer, as that is neither.
func (p *pace) late(now time.Time) {
	looking.rests.Store(int64(now.Sub(loaded) + restTime))
	p.missed()
}

// observe counts an answer, and reports whether the helper should look for the next request.
func (p *pace) observe(asked, now time.Time) bool {
	soon := asked.Sub(p.answered) < lookTime && (p.fresh || now.Sub(asked) < quickAnswer)
	p.answered, p.fresh = now, false
	switch {
	case !soon:
		p.count = min(p.count, 0)
	case p.count < startCount:
		p.count++
	default:
		p.since++
	}
	return p.count == startCount && p.hold(now)
}
