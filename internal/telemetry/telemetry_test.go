package telemetry_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/limits"
)

func scrape(t testing.TB, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// series returns the samples of our metrics whose names and labels match.
func series(t testing.TB, text, pattern string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	match := regexp.MustCompile("^wasmres_" + pattern)
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ' ')
		if !match.MatchString(line) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(line[:at], "wasmres_")] = v
	}
	return found
}

func sum(values map[string]float64) (n float64) {
	for v := range maps.Values(values) {
		n += v
	}
	return n
}

func read(tenant string, m *telemetry.Metrics, code string, took time.Duration) {
	m.Observe(tenant, accesslog.Entry{Time: time.Now(), Method: "resources/read", URI: "secret://uri", Principal: "ada lovelace", Code: code, Bytes: 10, Duration: took})
}

func TestMetrics(t *testing.T) {
	state := telemetry.State{Providers: map[string]int{"live": 2, "cold": 7}, LiveBytes: 1 << 20, Generation: 42, Stale: 1, Canaries: 3,
		Streams: map[string]int{"2026-07-28": 4, "sessions": 2}, LedgerLag: 1500 * time.Millisecond, Expiry: time.Now().Add(time.Hour),
		Spans: telemetry.Spans{Sent: 5, Dropped: 6, Failed: 7}}
	m := telemetry.New(telemetry.Config{Version: "1.2.3", State: func() telemetry.State { return state }})
	for range 3 {
		read("acme", m, "ok", time.Millisecond)
	}
	read("acme", m, "trap", 40*time.Millisecond)
	m.Observe("acme", accesslog.Entry{Time: time.Now(), Method: "resources/list", Session: "s", Code: "-32601"})
	m.Observe("acme", accesslog.Entry{Time: time.Now(), Method: "x\ny", Code: "a b"})
	m.Used("acme", limits.Usage{Fuel: 1000, CPU: 1500 * time.Millisecond})
	m.Limited("acme", "cpu_day")
	m.Limited("acme", "unheard of")
	m.Started(3*time.Millisecond, true)
	m.Committed(3 * time.Millisecond)
	m.Authenticated("key", "ok")
	m.Authenticated("key", "ok")
	m.Authenticated("none", "missing")
	m.Authenticated("unheard of", "forged")
	m.Asked("acme", "kv", abi.CodeOK)
	m.Asked("acme", "http", abi.CodeDenied)
	m.Asked("acme", "http", abi.CodeDeadline)
	m.WorkerEnded("idle")
	m.CanaryFailed()
	m.EnginesDiffer()
	m.NotCompared(abi.CodeUnavailable)
	m.NotCompared(abi.CodeModule)
	text := scrape(t, m)
	want := map[string]float64{
		`requests_total{code="ok",era="2026-07-28",method="resources/read",tenant="acme"}`:      3,
		`requests_total{code="trap",era="2026-07-28",method="resources/read",tenant="acme"}`:    1,
		`requests_total{code="rpc_error",era="sessions",method="resources/list",tenant="acme"}`: 1,
		`requests_total{code="other",era="2026-07-28",method="other",tenant="acme"}`:            1,
		`engines_differ_total`:                           1,
		`engines_not_compared_total{code="unavailable"}`: 1, `engines_not_compared_total{code="other"}`: 1,
		`bytes_total{tenant="acme"}`: 40, `fuel_total{tenant="acme"}`: 1000, `guest_seconds_total{tenant="acme"}`: 1.5,
		`limited_total{limit="cpu_day",tenant="acme"}`: 1, `limited_total{limit="other",tenant="acme"}`: 1,
		`auth_total{kind="key",outcome="ok"}`: 2, `auth_total{kind="none",outcome="missing"}`: 1, `auth_total{kind="other",outcome="other"}`: 1,
		`capability_calls_total{capability="kv",code="ok",tenant="acme"}`:       1,
		`capability_calls_total{capability="http",code="denied",tenant="acme"}`: 1,
		`capability_calls_total{capability="http",code="failed",tenant="acme"}`: 1,
		`streams{era="2026-07-28"}`: 4, `streams{era="sessions"}`: 2, `ledger_lag_seconds`: 1.5,
		`trace_spans_total{outcome="sent"}`: 5, `trace_spans_total{outcome="dropped"}`: 6, `trace_spans_total{outcome="failed"}`: 7,
		`worker_ends_total{why="idle"}`: 1,
		`providers{state="cold"}`:       7, `providers{state="live"}`: 2,
		`providers{state="starting"}`: 0,
		`live_bytes`:                  1 << 20, `config_generation`: 42, `stale_objects`: 1, `canaries`: 3, `canaries_failed_total`: 1,
	}
	if diff := cmp.Diff(want, series(t, text, "(requests|bytes|fuel|guest|limited|worker|providers|live|config|stale|canaries|auth|capability|streams|ledger|trace|engines)")); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, line := range []string{
		`wasmres_request_seconds_bucket{method="resources/read",le="0.001"} 3`, `wasmres_request_seconds_count{method="resources/read"} 4`,
		`wasmres_request_seconds_sum{method="resources/read"} 0.043`, `wasmres_start_seconds_bucket{kind="cold",le="0.005"} 1`, `wasmres_start_seconds_count{kind="first"} 0`,
		`wasmres_store_commit_seconds_bucket{le="0.005"} 1`, `wasmres_store_commit_seconds_bucket{le="0.002"} 0`, "wasmres_certificate_expiry_seconds 3599.",
		`wasmres_build_info{go="go1.`, "go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("there is no %s", line)
		}
	}
	for _, private := range []string{"secret", "lovelace"} {
		if strings.Contains(text, private) {
			t.Errorf("the metrics say %q", private)
		}
	}
	m.Remove("acme")
	text = scrape(t, m)
	if n := series(t, text, `.*tenant="acme"`); len(n) > 0 {
		t.Errorf("a tenant that is gone has %v", n)
	}
}

var everyCode = []string{
	"ok", "not_found", "invalid_params", "denied", "unavailable", "deadline", "too_large", "internal", "trap", "protocol", "memory",
	"fuel", "stack", "limited", "exhausted", "unauthorized", "-32601", "404", "what", "",
}

var everyMethod = []string{
	"resources/read", "resources/list", "resources/templates/list", "completion/complete", "tools/call", "download", "POST", "forged\n",
}

var everyCapability = []string{"fs", "http", "kv", "sql", "forged"}

// Clients that send every request that there is make no more series than there may be, and each request is counted once.
func TestSeriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := telemetry.New(telemetry.Config{State: func() telemetry.State { return telemetry.State{Expiry: time.Now()} }})
		for _, kind := range []string{"none", "key", "oauth", "certificate", "forged"} {
			for _, outcome := range []string{"ok", "missing", "invalid", "denied", "limited", "unavailable", "forged"} {
				m.Authenticated(kind, outcome)
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		requests, asked, total := 0.0, 0.0, map[string]float64{}
		for round := range 3 {
			for tenant := range 5000 {
				id := fmt.Sprintf("tenant-%d", tenant)
				for range 1 + (tenant+1700*round)%5000/250 { // others are the busiest in each round
					m.Observe(id, accesslog.Entry{
						Time: time.Now(), Method: everyMethod[rng.IntN(len(everyMethod))], Code: everyCode[rng.IntN(len(everyCode))],
						Session: []string{"", "s"}[rng.IntN(2)], Bytes: 1,
					})
					requests++
				}
				for _, limit := range []string{"requests", "concurrency", "bytes", "bytes_day", "cpu_day", "subscriptions", "sessions", "x"} {
					m.Limited(id, limit)
				}
				m.Used(id, limits.Usage{Fuel: 1, CPU: 1})
				for _, code := range []abi.Code{abi.CodeOK, abi.CodeDenied, abi.CodeDeadline} {
					for _, capability := range everyCapability {
						m.Asked(id, capability, code)
						asked++
					}
				}
			}
			text := scrape(t, m)
			all := 0
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "#") {
					all++
				}
			}
			t.Logf("%d series", all)
			if all > 6000 || all < 2000 {
				t.Errorf("there are %d series", all)
			}
			now := series(t, text, "(requests|bytes|fuel|limited|capability_calls)_total")
			for name, before := range total {
				if after, ok := now[name]; ok && after < before {
					t.Errorf("%s went from %g to %g", name, before, after)
				}
			}
			maps.Copy(total, now)
			time.Sleep(2 * time.Hour)
		}
		if got := sum(series(t, scrapeAll(total), "requests_total")); got != requests {
			t.Errorf("%g requests were counted, want %g", got, requests)
		}
		if got := sum(series(t, scrapeAll(total), "capability_calls_total")); got != asked {
			t.Errorf("%g calls of capabilities were counted, want %g", got, asked)
		}
		if got := sum(series(t, scrapeAll(total), "bytes_total")); got != requests {
			t.Errorf("%g bytes were counted, want %g", got, requests)
		}
	})
}

// scrapeAll writes samples as a scrape has them, with those that have no label any more.
func scrapeAll(samples map[string]float64) string {
	var b strings.Builder
	for name, v := range samples {
		fmt.Fprintf(&b, "wasmres_%s %g\n", name, v)
	}
	return b.String()
}

func TestTheBusiestHaveALabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := telemetry.New(telemetry.Config{})
		labelled := func() map[string]bool {
			is := map[string]bool{}
			for name := range series(t, scrape(t, m), `requests_total`) {
				is[regexp.MustCompile(`tenant="([^"]*)"`).FindStringSubmatch(name)[1]] = true
			}
			return is
		}
		for tenant := range 300 {
			for range 1 + tenant {
				read(fmt.Sprintf("t%d", tenant), m, "ok", 0)
			}
		}
		if is := labelled(); len(is) != 201 || !is["other"] || !is["t299"] || !is["t100"] || is["t99"] {
			t.Errorf("%d labels: %v", len(is), is)
		}
		time.Sleep(30 * time.Minute)
		for range 1000 {
			read("t0", m, "ok", 0)
		}
		if is := labelled(); !is["t0"] || is["t100"] || !is["t101"] {
			t.Errorf("after t0 became busy: %v", is)
		}
		time.Sleep(45 * time.Minute)
		if is := labelled(); len(is) != 2 || !is["t0"] || !is["other"] {
			t.Errorf("after an hour without the others: %v", is)
		}
	})
}

func TestLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := telemetry.New(telemetry.Config{})
		time.Sleep(time.Minute)
		for i := range 200 {
			took := time.Millisecond
			if i%100 == 0 {
				took = time.Second
			}
			read("busy", m, "ok", took)
		}
		read("slow", m, "trap", 3*time.Second)
		read("slow", m, "limited", 0)
		time.Sleep(10 * time.Second)
		loads := m.Loads(0)
		if len(loads) != 2 || loads[0].Tenant != "busy" || loads[1].Tenant != "slow" {
			t.Fatalf("got %v", loads)
		}
		if b := loads[0]; b.PerSecond < 10 || b.PerSecond > 200/15.0 || b.P99 < time.Millisecond || b.P99 > 1500*time.Microsecond || b.Faults+b.Limited != 0 {
			t.Errorf("got %+v", b)
		}
		if s := loads[1]; s.P99 < 3*time.Second || s.P99 > 4500*time.Millisecond || s.Faults != 1 || s.Limited != 1 {
			t.Errorf("got %+v", s)
		}
		if one := m.Loads(1); len(one) != 1 {
			t.Errorf("got %v", one)
		}
		time.Sleep(10 * time.Second)
		if loads := m.Loads(0); len(loads) != 0 {
			t.Errorf("after 20 seconds: %v", loads)
		}
	})
}

// No request is lost while others, scrapes and removals go on.
func TestConcurrently(t *testing.T) {
	m := telemetry.New(telemetry.Config{})
	var work sync.WaitGroup
	for g := range 4 {
		work.Go(func() {
			for i := range 2000 {
				read(fmt.Sprintf("t%d", (g+i)%300), m, "ok", 0)
			}
		})
	}
	for range 5 {
		scrape(t, m)
		m.Loads(10)
	}
	work.Wait()
	for _, name := range []string{"request_seconds_count", "requests_total"} {
		if got := sum(series(t, scrape(t, m), name)); got != 8000 {
			t.Errorf("%s: got %g requests", name, got)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	m := telemetry.New(telemetry.Config{})
	e := accesslog.Entry{Time: time.Now(), Client: "127.0.0.1", Method: "resources/read", URI: "hello://about", Code: "ok", Bytes: 243, Duration: 412 * time.Microsecond}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe("acme", e)
	}
}

func BenchmarkObserveManyTenants(b *testing.B) {
	m := telemetry.New(telemetry.Config{})
	ids := make([]string, 5000)
	e := accesslog.Entry{Time: time.Now(), Method: "resources/list", Session: "abc", Code: "not_found", Duration: 412 * time.Microsecond}
	for i := range ids {
		ids[i] = fmt.Sprintf("tenant-%d", i)
		m.Observe(ids[i], e)
	}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for i := rand.IntN(5000); p.Next(); i++ {
			m.Observe(ids[i%len(ids)], e)
		}
	})
}

func BenchmarkScrape(b *testing.B) {
	m := telemetry.New(telemetry.Config{})
	for i := range 5000 {
		read(fmt.Sprintf("tenant-%d", i), m, everyCode[i%len(everyCode)], time.Millisecond)
	}
	for b.Loop() {
		scrape(b, m)
	}
}
