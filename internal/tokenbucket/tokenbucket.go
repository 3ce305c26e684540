// Package tokenbucket bounds rates.
//
// A [Bucket] fills at a [Rate] and has a token for each thing that may be done now. It is one number, the time at which it will
// be full, so that taking a token takes one atomic operation and no memory. Times are nanoseconds of a monotonic clock of the
// caller, by which all calls for one Bucket go.
package tokenbucket

import (
	"math"
	"sync/atomic"
	"time"
)

// A Rate says how quickly a Bucket fills, and how many tokens it holds. The zero Rate has no bound.
type Rate struct {
	each float64 // nanoseconds that a token takes
	full float64 // nanoseconds that all tokens take
}

// maxSpan bounds times, so that sums of them do not overflow: about 30 years.
const maxSpan = 1e18

// New makes a Rate of perSecond tokens a second, which is positive, and of burst tokens at once; 0 means those of one second,
// at least one.
func New(perSecond float64, burst int) Rate {
	if burst <= 0 {
		burst = int(min(max(math.Ceil(perSecond), 1), math.MaxInt32))
	}
	each := min(float64(time.Second)/perSecond, maxSpan)
	return Rate{each: each, full: min(each*float64(burst), maxSpan)}
}

// span returns how long n tokens take.
func (r Rate) span(n int64) int64 { return int64(max(min(r.each*float64(n), maxSpan), -maxSpan)) }

// A Bucket is full at first. It is safe for concurrent use.
type Bucket struct{ fullAt atomic.Int64 }

// Take takes n tokens, or none if there are fewer. Then retryAfter says when there may be enough; more than a full Bucket has
// are never there, and retryAfter is when it is full.
func (b *Bucket) Take(now int64, n int, r Rate) (retryAfter time.Duration, ok bool) {
	if r == (Rate{}) {
		return 0, true
	}
	span, full := r.span(int64(n)), int64(r.full)
	for {
		at := b.fullAt.Load()
		missing := max(at-now, 0) // of a full bucket, in time
		if missing+span > full {
			return time.Duration(max(min(missing, missing+span-full), 1)), false
		}
		if b.fullAt.CompareAndSwap(at, now+missing+span) {
			return 0, true
		}
	}
}

// Return undoes a Take of n tokens.
func (b *Bucket) Return(n int, r Rate) { b.fullAt.Add(-r.span(int64(n))) }

// Owe takes n tokens, even if there are fewer, and returns how long the caller must wait until the Bucket has no debt. A
// negative n gives tokens back.
func (b *Bucket) Owe(now int64, n int64, r Rate) (wait time.Duration) {
	if r == (Rate{}) {
		return 0
	}
	span := r.span(n)
	for {
		at := b.fullAt.Load()
		missing := min(max(max(at-now, 0)+span, 0), maxSpan)
		if b.fullAt.CompareAndSwap(at, now+missing) {
			return time.Duration(max(missing-int64(r.full), 0))
		}
	}
}

// Debt returns how long the Bucket takes until it has no debt.
func (b *Bucket) Debt(now int64, r Rate) time.Duration {
	return time.Duration(max(b.fullAt.Load()-now-int64(r.full), 0))
}

// IsFull reports whether no token is missing: forgetting the Bucket changes nothing.
func (b *Bucket) IsFull(now int64) bool { return b.fullAt.Load() <= now }

// Change keeps the number of tokens that are missing, when the rate of the Bucket changes.
func (b *Bucket) Change(now int64, from, to Rate) {
	if from == to || from.each == 0 {
		return
	}
	for {
		at := b.fullAt.Load()
		missing := float64(max(at-now, 0)) * to.each / from.each
		if b.fullAt.CompareAndSwap(at, now+int64(min(missing, maxSpan))) {
			return
		}
	}
}
