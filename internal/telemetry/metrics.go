package telemetry

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/accesslog"
	runtimelimits "github.com/wasmres/wasmres/runtime/limits"
)

// maxTenants bounds how many tenants are counted by themselves. Those beyond count as "other", and have no Load.
const maxTenants = 20_000

// Config configures Metrics. Its zero value is usable.
type Config struct {
	// State says what the server has now. Scrapes call it. Nil leaves its metrics out.
	State func() State
	// Version of the program.
	Version string
}

// State is what a server has at one moment.
type State struct {
	Providers map[string]int // how many are in each state: cold, starting or live
	LiveBytes uint64         // memory of all worker processes
	// Running and Waiting are the calls that have a processor, and that wait for one.
	Running, Waiting int
	Generation       uint64         // of the configuration
	Stale            int            // tenants whose files are wrong
	Canaries         int            // versions that serve a share of the clients
	Streams          map[string]int // open streams of changes, by era: 2026-07-28, or sessions for the revisions before
	LedgerLag        time.Duration  // since the oldest entry was made that is not in the ledger yet; zero for none
	// Expiry is when the first certificate expires of those that the server shows its clients and operators; zero for none.
	Expiry time.Time
	Spans  Spans
}

// Spans are how many spans of traces had each fate.
type Spans struct {
	Sent    uint64 // the collector has taken them
	Dropped uint64 // there was no room for them
	Failed  uint64 // the collector did not take them
}

// Metrics counts. It is safe for concurrent use. Make it with [New].
type Metrics struct {
	// fixed at creation
	start    time.Time
	cfg      Config
	registry *prometheus.Registry

	mu      sync.RWMutex        // held by no caller while it counts
	tenants map[string]*counter // guarded by mu
	rest    counter             // of tenants beyond maxTenants, and of those that were removed

	seconds []histogram     // by method
	starts  [2]histogram    // first and cold ones
	ends    []atomic.Uint64 // by reasons
	commits histogram
	queue   histogram
	// authentications, by credentials and outcomes
	authentications []atomic.Uint64

	canariesFailed atomic.Uint64
	enginesDiffer  atomic.Uint64
	notCompared    []atomic.Uint64 // by failures

	scraping sync.Mutex // held by scrapes, over State
	others   map[combination]uint64
	other    totals // beside requests
	ranked   time.Duration
}

// New makes Metrics.
func New(cfg Config) *Metrics {
	m := &Metrics{
		start: time.Now(), cfg: cfg, tenants: map[string]*counter{}, others: map[combination]uint64{}, ranked: -rankEvery,
		seconds: make([]histogram, len(methods.names)),
		ends:    make([]atomic.Uint64, len(reasons.names)),

		notCompared: make([]atomic.Uint64, len(failures.names)),

		authentications: make([]atomic.Uint64, len(credentials.names)*len(outcomes.names)),
	}
	for i := range m.seconds {
		m.seconds[i].init(requestBuckets)
	}
	for i := range m.starts {
		m.starts[i].init(startBuckets)
	}
	m.commits.init(commitBuckets)
	m.queue.init(commitBuckets)
	m.registry = newRegistry(m)
	return m
}

// Observe counts a request of a tenant.
func (m *Metrics) Observe(tenant string, e accesslog.Entry) {
	of := combinationOf(&e)
	m.counterOf(tenant).observe(&e, of, e.Time.Sub(m.start)+e.Duration)
	m.seconds[methods.of(e.Method)].observe(requestBuckets, e.Duration)
}

// Limited counts a request, stream or session that a limit refused: one of those of package admission.
func (m *Metrics) Limited(tenant, limit string) {
	c, i := m.counterOf(tenant), limits.of(limit)
	c.mu.Lock()
	c.pending.limited[i]++
	c.mu.Unlock()
}

// Used counts what a call of a guest has used.
func (m *Metrics) Used(tenant string, u runtimelimits.Usage) {
	c := m.counterOf(tenant)
	c.mu.Lock()
	c.pending.fuel += u.Fuel
	c.pending.cpu += max(u.CPU, 0)
	c.mu.Unlock()
}

// Asked counts a call of a capability, and how it ended.
func (m *Metrics) Asked(tenant, capability string, code abi.Code) {
	c, of := m.counterOf(tenant), newUse(capabilities.of(capability), uses.of(code.String()))
	c.mu.Lock()
	c.pending.addUse(of, 1)
	c.mu.Unlock()
}

// Started counts the start of a provider's process, which took a time until the first call could begin. It was cold if a call
// waited for it, since the process had been stopped.
func (m *Metrics) Started(took time.Duration, cold bool) {
	kind := 0
	if cold {
		kind = 1
	}
	m.starts[kind].observe(startBuckets, took)
}

// Authenticated counts that the credential of a client was checked: none, key, oauth or certificate. The outcome is ok, missing,
// invalid, denied, limited or unavailable.
func (m *Metrics) Authenticated(credential, outcome string) {
	m.authentications[int(credentials.of(credential))*len(outcomes.names)+int(outcomes.of(outcome))].Add(1)
}

// Queued counts a call that has waited for a processor.
func (m *Metrics) Queued(waited time.Duration) { m.queue.observe(commitBuckets, waited) }

// Committed counts that a change was stored, which took a time.
func (m *Metrics) Committed(took time.Duration) { m.commits.observe(commitBuckets, took) }

// WorkerEnded counts the end of a provider's process: idle, evicted, crashed or closed.
func (m *Metrics) WorkerEnded(why string) { m.ends[reasons.of(why)].Add(1) }

// EnginesDiffer counts a call that ended in another way on the other engine.
func (m *Metrics) EnginesDiffer() { m.enginesDiffer.Add(1) }

// NotCompared counts a second run of a call on the other engine that failed with a code and shows nothing of the engines.
func (m *Metrics) NotCompared(code abi.Code) { m.notCompared[failures.of(code.String())].Add(1) }

// CanaryFailed counts a version that was taken back.
func (m *Metrics) CanaryFailed() { m.canariesFailed.Add(1) }

// Remove ends the series of a tenant that the server no longer has.
func (m *Metrics) Remove(tenant string) {
	m.scraping.Lock()
	defer m.scraping.Unlock()
	m.mu.Lock()
	c := m.tenants[tenant]
	delete(m.tenants, tenant)
	m.mu.Unlock()
	if c != nil {
		m.addOther(c.take())
	}
}

// counterOf returns the counter of a tenant.
func (m *Metrics) counterOf(tenant string) *counter {
	m.mu.RLock()
	c := m.tenants[tenant]
	m.mu.RUnlock()
	if c != nil {
		return c
	}
	return m.addTenant(strings.Clone(tenant))
}

func (m *Metrics) addTenant(tenant string) *counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.tenants[tenant]; c != nil {
		return c
	}
	if len(m.tenants) >= maxTenants {
		return &m.rest
	}
	c := &counter{}
	m.tenants[tenant] = c
	return c
}

// A named counter is that of a tenant.
type named struct {
	tenant string
	*counter
}

// all returns the counters of all tenants.
func (m *Metrics) all() []named {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := make([]named, 0, len(m.tenants))
	for tenant, c := range m.tenants {
		list = append(list, named{tenant, c})
	}
	return list
}

// A Load is what a tenant did in the last 15 to 20 seconds.
type Load struct {
	Tenant    string
	PerSecond float64       // requests
	P99       time.Duration // that 99 of 100 requests did not exceed, to a factor of 1.5
	Limited   uint64        // requests that a limit refused
	Faults    uint64        // requests that failed by a fault of a guest
}

// Loads returns the busiest tenants of those with requests in the last 15 to 20 seconds, at most so many; 0 is all.
func (m *Metrics) Loads(most int) []Load {
	at := time.Since(m.start)
	covered := min(at, at%windowTime+(windows-1)*windowTime)
	loads := []Load{}
	for _, n := range m.all() {
		n.mu.Lock()
		w := n.recent.sum(at)
		n.mu.Unlock()
		if w.requests == 0 {
			continue
		}
		loads = append(loads, Load{
			Tenant: n.tenant, PerSecond: float64(w.requests) / max(covered.Seconds(), 1), P99: w.p99(),
			Limited: uint64(w.limited), Faults: uint64(w.faults),
		})
	}
	slices.SortFunc(loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(a.Tenant, b.Tenant))
	})
	if most > 0 {
		loads = loads[:min(most, len(loads))]
	}
	return loads
}
