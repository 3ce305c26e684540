package quota

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/lru"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/tokenbucket"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/limits"
)

const (
	// maxClients is how many clients of a tenant are known, and as many that have shown no good credential. The one that has
	// made no connection for the longest time is forgotten for another, and may then send a burst again.
	maxClients = 4096
	// maxProviders is how many providers of a tenant are known.
	maxProviders = 1024

	crowdedRetry = 100 * time.Millisecond // when too many requests run at once
	fullRetry    = 10 * time.Second       // when too many streams or sessions are open
)

// A Tenant bounds what one tenant uses. It is an [admission.Gate], and safe for concurrent use.
type Tenant struct {
	// fixed at creation
	began     time.Time // the beginning of the clock
	look      func()    // begins the next day if it is time for that
	clients   *lru.Cache[string, *account]
	strangers *lru.Cache[string, *account]
	providers *lru.Cache[string, *provider]

	bounds   atomic.Pointer[bounds]
	requests tokenbucket.Bucket
	bytes    tokenbucket.Bucket
	running  atomic.Int64 // requests

	// of today
	cpu      atomic.Int64 // nanoseconds
	sent     atomic.Int64 // bytes
	midnight atomic.Int64 // the end of the day, on the clock

	setMu sync.Mutex // held while the bounds change

	mu   sync.Mutex // guards the field below
	open [2]opened  // by admission.Kind
}

// What is opened of one kind.
type opened struct {
	total int
	of    map[string]int // by key of the client; those with none are left out
}

// New makes a Tenant of a plan that has used nothing today, and belongs to no Book.
func New(plan *tenant.Plan) *Tenant {
	c := newCalendar(time.Now)
	t := newTenant(plan, c.began, nil)
	t.midnight.Store(c.end)
	var mu sync.Mutex
	t.look = func() {
		mu.Lock()
		defer mu.Unlock()
		if c.look() == nextDay {
			t.reset()
		}
		t.midnight.Store(c.end)
	}
	return t
}

func newTenant(plan *tenant.Plan, began time.Time, look func()) *Tenant {
	t := &Tenant{
		began: began, look: look,
		clients: lru.New(maxClients, one[*account]), strangers: lru.New(maxClients, one[*account]),
		providers: lru.New(maxProviders, one[*provider]),
		open:      [2]opened{admission.Stream: {of: map[string]int{}}, admission.Session: {of: map[string]int{}}},
	}
	t.bounds.Store(boundsOf(plan))
	return t
}

func one[V any](string, V) int64 { return 1 }

func (t *Tenant) now() int64 { return int64(time.Since(t.began)) }

// Set makes plan what bounds the tenant from now on. What was used stays used, and what is open stays open.
func (t *Tenant) Set(plan *tenant.Plan) {
	t.setMu.Lock()
	defer t.setMu.Unlock()
	now, next := t.now(), boundsOf(plan)
	old := t.bounds.Swap(next)
	t.requests.Change(now, old.requests, next.requests)
	t.bytes.Change(now, old.bytes, next.bytes)
	t.clients.RemoveFunc(func(_ string, c *account) bool {
		c.bucket.Change(now, old.principal, next.principal)
		return false
	})
	t.providers.RemoveFunc(func(_ string, p *provider) bool {
		p.bucket.Change(now, old.provider, next.provider)
		return false
	})
}

// Account implements [admission.Gate].
func (t *Tenant) Account(key string, by admission.By) admission.Account {
	known := t.clients
	if by == admission.Unauthenticated {
		known = t.strangers
	}
	a, ok := known.Get(key)
	if !ok { // two goroutines may both make one: the client gets a second burst once
		a = &account{tenant: t, key: key, by: by}
		known.Put(key, a)
	}
	return a
}

// A provider is what bounds the calls of one provider.
type provider struct{ bucket tokenbucket.Bucket }

// Provider returns what admits calls of the provider of that name: see [runtime.Options]. Its error tells the client which
// limit was hit.
func (t *Tenant) Provider(name string) func(context.Context) error {
	p, ok := t.providers.Get(name)
	if !ok {
		p = &provider{}
		t.providers.Put(name, p)
	}
	return func(context.Context) error {
		retryAfter, ok := p.bucket.Take(t.now(), 1, t.bounds.Load().provider)
		if ok {
			return nil
		}
		refused := admission.Refusal{Limit: admission.Requests, Of: "provider", RetryAfter: atLeast(retryAfter)}
		return abi.Busy(refused.RetryAfter, "Too many requests, try again later").Because(&admission.Error{Refusal: refused})
	}
}

// Used counts what a call of a provider has used.
func (t *Tenant) Used(u limits.Usage) {
	t.beginDay(t.now())
	t.cpu.Add(int64(u.CPU))
}

// Today returns what the tenant has used since midnight UTC.
func (t *Tenant) Today() Used {
	t.beginDay(t.now())
	return t.used()
}

func (t *Tenant) used() Used { return Used{CPU: time.Duration(t.cpu.Load()), Bytes: t.sent.Load()} }

// reset returns what was used, and has nothing used from then on. What another goroutine counts meanwhile is in one of both.
func (t *Tenant) reset() Used { return Used{CPU: time.Duration(t.cpu.Swap(0)), Bytes: t.sent.Swap(0)} }

func (t *Tenant) add(u Used) {
	t.cpu.Add(int64(u.CPU))
	t.sent.Add(u.Bytes)
}

// exhausted returns the refusal of a budget of the day that is used up. It reads midnight before the counts: when a day begins, the counts
// change first, so that no count of the day before has the midnight of this one.
func (t *Tenant) exhausted(now int64, b *bounds) (refused admission.Refusal, is bool) {
	midnight := t.midnight.Load()
	switch {
	case t.cpu.Load() >= int64(b.cpuPerDay):
		refused.Limit = admission.CPUDay
	case t.sent.Load() >= b.bytesPerDay:
		refused.Limit = admission.BytesDay
	default:
		return refused, false
	}
	refused.Of, refused.Exhausted, refused.RetryAfter = ofTenant, true, atLeast(time.Duration(midnight-now))
	return refused, true
}

// beginDay begins the next day if it is time for that.
func (t *Tenant) beginDay(now int64) {
	if now >= t.midnight.Load() {
		t.look()
	}
}

func atLeast(d time.Duration) time.Duration { return max(d, time.Millisecond) }
