package rollout

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/telemetry"
)

// MinCalls is how many calls of a canary say whether it is good or bad.
const MinCalls = 50

const (
	windows    = 6
	windowTime = 10 * time.Second

	maxPoints = 5                    // by which its rate of faults may exceed that of the active version, in percent
	maxFactor = 3                    // by which its 99th percentile may exceed that of the active version
	minSlow   = 5 * time.Millisecond // a shorter 99th percentile is never too long
	fewSlow   = 2                    // reads that say nothing of a percentile, as the first one of a process
)

// Counts are what was counted of one version.
type Counts struct {
	Calls  uint32
	Faults uint32        // calls that ended by a fault of the guest
	Reads  uint32        // whose times are known
	P99    time.Duration // that 99 of 100 reads did not exceed, but for the slowest two, to a factor of 1.5; zero for none
}

// counts are Counts while they are counted.
type counts struct {
	calls, faults, reads uint32
	times                telemetry.Times
}

func (c *counts) add(o *counts) {
	c.calls += o.calls
	c.faults += o.faults
	c.reads += o.reads
	c.times.AddAll(&o.times)
}

func (c *counts) result() Counts {
	return Counts{Calls: c.calls, Faults: c.faults, Reads: c.reads, P99: c.times.AllBut(max(c.reads/100, fewSlow))}
}

// A pair has the counts of both versions.
type pair struct{ active, canary counts }

func (p *pair) add(o *pair) {
	p.active.add(&o.active)
	p.canary.add(&o.canary)
}

// A Trial compares a canary with the active version of its provider. It is safe for concurrent use.
type Trial struct {
	// fixed at creation
	start time.Time
	onEnd func(reason string)

	failed atomic.Bool

	mu   sync.Mutex
	all  pair // since the start
	last int64
	ring [windows]pair // of the last minute, each at its number modulo windows

	history history
}

// NewTrial makes a Trial. It calls failed once, from the call that decides it, when the canary must go back; failed must not
// block.
func NewTrial(failed func(reason string)) *Trial { return &Trial{start: time.Now(), onEnd: failed} }

// Failed reports whether the canary must go back, or was stopped: no client is given to it any more.
func (t *Trial) Failed() bool { return t.failed.Load() }

// Stop gives the canary to no client from now on, as when an operator has taken it back. It calls nothing.
func (t *Trial) Stop() { t.failed.Store(true) }

// Counts returns what was counted since the start.
func (t *Trial) Counts() (active, canary Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all.active.result(), t.all.canary.result()
}

// observe counts a call of one of the versions. took is negative if it says nothing of the version.
func (t *Trial) observe(isCanary, fault bool, took time.Duration) {
	if reason, failed := t.count(isCanary, fault, took); failed && t.failed.CompareAndSwap(false, true) {
		t.onEnd(reason)
	}
}

func (t *Trial) count(isCanary, fault bool, took time.Duration) (reason string, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.advance()
	for _, p := range []*pair{&t.all, now, t.history.at(time.Since(t.start))} {
		c := &p.active
		if isCanary {
			c = &p.canary
		}
		c.calls++
		if fault {
			c.faults++
		}
		if took >= 0 && !fault {
			c.reads++
			c.times.Add(took)
		}
	}
	if !isCanary {
		return "", false
	}
	if reason, failed = compare(&t.all); failed {
		return reason, true
	}
	var recent pair
	for i := range t.ring {
		recent.add(&t.ring[i])
	}
	return compare(&recent)
}

// advance clears the windows that are over, and returns the present one.
func (t *Trial) advance() *pair {
	now := int64(time.Since(t.start) / windowTime)
	for ; t.last < now && t.last+windows >= now; t.last++ {
		t.ring[(t.last+1)%windows] = pair{}
	}
	if t.last < now {
		t.last, t.ring = now, [windows]pair{}
	}
	return &t.ring[t.last%windows]
}

func compare(p *pair) (reason string, failed bool) {
	return Judge(p.active.result(), p.canary.result())
}

// Judge says whether a canary must go back, and why, by what was counted of it and of the active version.
func Judge(active, canary Counts) (reason string, failed bool) {
	if canary.Calls < MinCalls {
		return "", false
	}
	if bad, usual := canary.rate(), active.rate(); bad-usual >= maxPoints {
		return fmt.Sprintf("%d of %d calls ended by a fault of the provider (%.1f %%), and %d of %d of the active version (%.1f %%)",
			canary.Faults, canary.Calls, bad, active.Faults, active.Calls, usual), true
	}
	if canary.Reads >= MinCalls && active.Reads >= MinCalls && canary.P99 > max(maxFactor*active.P99, minSlow) {
		return fmt.Sprintf("99 of 100 reads took up to %v, and up to %v with the active version", canary.P99, active.P99), true
	}
	return "", false
}

// rate returns the faults among the calls, in percent; zero without calls.
func (c Counts) rate() float64 {
	if c.Calls == 0 {
		return 0
	}
	return 100 * float64(c.Faults) / float64(c.Calls)
}
