package telemetry

import (
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/accesslog"
)

const (
	maxCombinations = 12 // of method, code and era, for each tenant
	mergedRoom      = 2  // of these, for combinations that share one
	maxLimits       = 9
	maxUses         = 4 // of a capability and how its calls ended, for each tenant: further ones share the last
)

// totals are what is counted of one tenant.
type totals struct {
	requests [maxCombinations]count
	limited  [maxLimits]uint64 // by limits
	uses     [maxUses]usedCount
	fuel     uint64
	bytes    uint64
	cpu      time.Duration // of guests
}

// A count is how often a combination came.
type count struct {
	of combination // zero for none: those behind it are none, too
	n  uint64
}

// A use is a capability and how its calls ended. Zero is none.
type use uint8

func newUse(capability, ended uint8) use {
	return 1 + use(ended) + use(len(uses.names))*use(capability)
}

// values returns the values of the labels capability and code.
func (u use) values() (capability, code string) {
	u--
	n := use(len(uses.names))
	return capabilities.names[u/n], uses.names[u%n]
}

// A usedCount is how often a use came.
type usedCount struct {
	of use // zero for none: those behind it are none, too
	n  uint64
}

// addUse counts calls of a capability.
func (t *totals) addUse(of use, n uint64) {
	for i := range t.uses[:maxUses-1] {
		if c := &t.uses[i]; c.of == of || c.of == 0 {
			c.of = of
			c.n += n
			return
		}
	}
	shared := &t.uses[maxUses-1]
	shared.of = newUse(0, 0)
	shared.n += n
}

// add counts a combination.
func (t *totals) add(of combination, n uint64) {
	own := t.requests[:maxCombinations-mergedRoom]
	for i := range own {
		c := &own[i]
		if c.of == of || c.of == 0 {
			c.of = of
			c.n += n
			return
		}
	}
	of = of.merged()
	shared := t.requests[maxCombinations-mergedRoom:]
	for i := range shared {
		c := &shared[i]
		if c.of == of || c.of == 0 {
			c.of = of
			c.n += n
			return
		}
	}
}

// sum returns the number of all requests.
func (t *totals) sum() (n uint64) {
	for i := range t.requests {
		n += t.requests[i].n
	}
	return n
}

// A counter counts for one tenant.
type counter struct {
	mu      sync.Mutex
	pending totals // since the last scrape; guarded by mu
	recent  recent // guarded by mu

	// of scrapes: guarded by Metrics.scraping
	told totals // with the label of the tenant
	hour activity
	has  bool // the label
}

// observe counts a request that ended at a time since the start of the Metrics.
func (c *counter) observe(e *accesslog.Entry, of combination, at time.Duration) {
	c.mu.Lock()
	c.pending.add(of, 1)
	c.pending.bytes += uint64(max(e.Bytes, 0))
	c.recent.observe(of.code(), at, e.Duration)
	c.mu.Unlock()
}

// take returns what was counted since it was called last.
func (c *counter) take() (t totals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, c.pending = c.pending, totals{}
	return t
}

// activity is how many requests came in each part of the last hour.
type activity struct {
	last  int64 // number of the last part
	parts [parts]uint64
}

const (
	parts    = 6
	partTime = time.Hour / parts
)

// add counts requests at a time since the start, and returns those of the last hour.
func (a *activity) add(n uint64, at time.Duration) (sum uint64) {
	now := int64(at / partTime)
	for ; a.last < now && a.last+parts >= now; a.last++ {
		a.parts[(a.last+1)%parts] = 0
	}
	if a.last < now {
		a.last, a.parts = now, [parts]uint64{}
	}
	a.parts[now%parts] += n
	for _, part := range a.parts {
		sum += part
	}
	return sum
}
