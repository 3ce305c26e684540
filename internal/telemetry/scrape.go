package telemetry

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	labelled    = 200         // tenants with a label
	rankEvery   = time.Minute // at least, between two choices of them
	maxScrapes  = 2           // at once
	scrapeLimit = 10 * time.Second
	maxOthers   = 100 // combinations of method, code and era of "other": further ones share two
)

// descs are all metrics of the Collector.
var descs = struct {
	requests, seconds, limited, fuel, cpu, bytes, starts, ends *prometheus.Desc
	providers, live, generation, stale, build                  *prometheus.Desc
	canaries, failed, differ, uncompared                       *prometheus.Desc
	capabilities, authentications, streams                     *prometheus.Desc
	commits, lag, expiry, spans                                *prometheus.Desc
	queue, queued                                              *prometheus.Desc
}{
	desc("requests_total", "Requests of clients.", "tenant", "method", "code", "era"),
	desc("request_seconds", "Time until the answer of a request was made.", "method"),
	desc("limited_total", "Requests, streams and sessions that a limit refused.", "tenant", "limit"),
	desc("fuel_total", "Guest work, in fuel.", "tenant"),
	desc("guest_seconds_total", "Processor time of guests, about.", "tenant"),
	desc("bytes_total", "Bytes of answers, before compression.", "tenant"),
	desc("start_seconds", "Time to start the process of a provider.", "kind"),
	desc("worker_ends_total", "Ends of processes of providers.", "why"),
	desc("providers", "Providers in a state.", "state"),
	desc("live_bytes", "Memory of the processes of all providers."),
	desc("config_generation", "Number of the configuration in force."),
	desc("stale_objects", "Tenants that are served as they last were, since their files are wrong."),
	desc("build_info", "The program.", "version", "go"),
	desc("canaries", "Versions that serve a share of the clients."),
	desc("canaries_failed_total", "Versions that were taken back for their faults, or because they were slow."),
	desc("engines_differ_total", "Calls that ended in another way on the other engine."),
	desc("engines_not_compared_total", "Second runs of calls on the other engine that failed.", "code"),
	desc("capability_calls_total", "Calls of providers to capabilities.", "tenant", "capability", "code"),
	desc("auth_total", "Checks of the credentials of clients.", "kind", "outcome"),
	desc("streams", "Open streams of changes.", "era"),
	desc("store_commit_seconds", "Time to store a change, with its entry in the ledger."),
	desc("ledger_lag_seconds", "Age of the oldest entry that is not in the ledger yet."),
	desc("certificate_expiry_seconds", "Time until the first certificate of the server expires."),
	desc("trace_spans_total", "Spans of traces.", "outcome"),
	desc("queue_seconds", "Time that calls have waited for a processor, of those that had to wait."),
	desc("queue_calls", "Calls that run or wait for a processor.", "state"),
}

func allDescs() []*prometheus.Desc {
	return []*prometheus.Desc{
		descs.requests, descs.seconds, descs.limited, descs.fuel, descs.cpu, descs.bytes, descs.starts, descs.ends,
		descs.providers, descs.live, descs.generation, descs.stale, descs.build, descs.canaries, descs.failed, descs.differ, descs.uncompared,
		descs.capabilities, descs.authentications, descs.streams, descs.commits, descs.lag, descs.expiry, descs.spans, descs.queue, descs.queued,
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("wasmres_"+name, help, labels, nil)
}

func newRegistry(m *Metrics) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Handler serves the metrics in the formats of Prometheus. At most two scrapes run at once; others get HTTP 503.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, Timeout: scrapeLimit})
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range allDescs() {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.collectTenants(to)
	for i := range m.seconds {
		h := &m.seconds[i]
		if h.used() {
			to <- h.metric(descs.seconds, requestBuckets, methods.names[i])
		}
	}
	for i, kind := range []string{"first", "cold"} {
		to <- m.starts[i].metric(descs.starts, startBuckets, kind)
	}
	to <- m.commits.metric(descs.commits, commitBuckets)
	to <- m.queue.metric(descs.queue, commitBuckets)
	for i := range m.authentications {
		n := len(outcomes.names)
		counted(to, descs.authentications, m.authentications[i].Load(), credentials.names[i/n], outcomes.names[i%n])
	}
	for i := range m.ends {
		counted(to, descs.ends, m.ends[i].Load(), reasons.names[i])
	}
	counted(to, descs.failed, m.canariesFailed.Load())
	counted(to, descs.differ, m.enginesDiffer.Load())
	for i := range m.notCompared {
		counted(to, descs.uncompared, m.notCompared[i].Load(), failures.names[i])
	}
	to <- gauge(descs.build, 1, m.cfg.Version, runtime.Version())
	if m.cfg.State != nil {
		collectState(to, m.cfg.State())
	}
}

func collectState(to chan<- prometheus.Metric, s State) {
	var in [16]int
	for name, n := range s.Providers {
		in[states.of(name)] += n
	}
	for i, name := range states.names {
		if i > 0 || in[i] > 0 {
			to <- gauge(descs.providers, float64(in[i]), name)
		}
	}
	to <- gauge(descs.live, float64(s.LiveBytes))
	to <- gauge(descs.generation, float64(s.Generation))
	to <- gauge(descs.stale, float64(s.Stale))
	to <- gauge(descs.canaries, float64(s.Canaries))
	for _, era := range eraNames {
		to <- gauge(descs.streams, float64(s.Streams[era]), era)
	}
	to <- gauge(descs.queued, float64(s.Running), "running")
	to <- gauge(descs.queued, float64(s.Waiting), "waiting")
	to <- gauge(descs.lag, s.LedgerLag.Seconds())
	counted(to, descs.spans, s.Spans.Sent, "sent")
	counted(to, descs.spans, s.Spans.Dropped, "dropped")
	counted(to, descs.spans, s.Spans.Failed, "failed")
	if !s.Expiry.IsZero() {
		to <- gauge(descs.expiry, time.Until(s.Expiry).Seconds())
	}
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// counted emits a counter, unless it is zero.
func counted(to chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	if n > 0 {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
}

// collectTenants accounts for what was counted since the last scrape, and emits it.
func (m *Metrics) collectTenants(to chan<- prometheus.Metric) {
	m.scraping.Lock()
	defer m.scraping.Unlock()
	for _, n := range m.account() {
		n.told.emit(to, n.tenant)
	}
	m.addOther(m.rest.take())
	for of, n := range m.others {
		method, code, era := of.values()
		counted(to, descs.requests, n, other, method, code, era)
	}
	m.other.emit(to, other)
}

// account adds what was counted to the tenants that have a label, which it returns, and to "other".
func (m *Metrics) account() (with []named) {
	list := m.all()
	fresh := make([]totals, len(list))
	sums := make(map[string]uint64, len(list))
	at := time.Since(m.start)
	for i, n := range list {
		fresh[i] = n.take()
		sums[n.tenant] = n.hour.add(fresh[i].sum(), at)
	}
	if at-m.ranked >= rankEvery || len(list) <= labelled {
		m.ranked = at
		rank(list, sums)
	}
	for i, n := range list {
		if !n.has {
			m.addOther(fresh[i])
			continue
		}
		n.told.merge(&fresh[i])
		with = append(with, n)
	}
	return with
}

// rank gives a label to the tenants with most requests.
func rank(list []named, sums map[string]uint64) {
	order := slices.Clone(list)
	slices.SortFunc(order, func(a, b named) int {
		return cmp.Or(cmp.Compare(sums[b.tenant], sums[a.tenant]), cmp.Compare(a.tenant, b.tenant))
	})
	for i, n := range order {
		n.has = i < labelled && sums[n.tenant] > 0
	}
}

// addOther counts for "other".
func (m *Metrics) addOther(t totals) {
	for _, c := range t.requests {
		if c.n == 0 {
			continue
		}
		if _, known := m.others[c.of]; !known && len(m.others) >= maxOthers {
			c.of = c.of.merged()
		}
		m.others[c.of] += c.n
	}
	t.requests = [maxCombinations]count{}
	m.other.merge(&t)
}

// merge adds the counts of from.
func (t *totals) merge(from *totals) {
	for _, c := range from.requests {
		if c.n > 0 {
			t.add(c.of, c.n)
		}
	}
	for i, n := range from.limited {
		t.limited[i] += n
	}
	for _, c := range from.uses {
		if c.n > 0 {
			t.addUse(c.of, c.n)
		}
	}
	t.fuel += from.fuel
	t.bytes += from.bytes
	t.cpu += from.cpu
}

// emit emits the counters of a tenant.
func (t *totals) emit(to chan<- prometheus.Metric, tenant string) {
	for _, c := range t.requests {
		if c.of == 0 {
			continue
		}
		method, code, era := c.of.values()
		counted(to, descs.requests, c.n, tenant, method, code, era)
	}
	for i, n := range t.limited {
		counted(to, descs.limited, n, tenant, limits.names[i])
	}
	for _, c := range t.uses {
		if c.n > 0 {
			capability, code := c.of.values()
			counted(to, descs.capabilities, c.n, tenant, capability, code)
		}
	}
	counted(to, descs.fuel, t.fuel, tenant)
	counted(to, descs.bytes, t.bytes, tenant)
	if t.cpu > 0 {
		to <- prometheus.MustNewConstMetric(descs.cpu, prometheus.CounterValue, t.cpu.Seconds(), tenant)
	}
}
