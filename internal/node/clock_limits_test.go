package node_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/internal/usage"
)

// When the clock is set, forward by ten years or back by a day, rates and budgets of the day that are used up stay used up, calls that
// wait for a processor get it, and each request is counted once.
func TestLimitsDoNotGoByTheClock(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy for a second")
	}
	dir := filepath.Join(t.TempDir(), "data")
	write(t, filepath.Join(dir, "serve.yaml"), `processors: {calls: 1}
plans:
  rate: {principal_requests: {rate: 1/h, burst: 2}}
  day: {cpu: {per_day: 200ms}}
`)
	for id, plan := range map[string]string{"rate": "rate", "day": "day", "free": "default"} {
		write(t, filepath.Join(dir, "tenants", id+".yaml"), fmt.Sprintf(
			"plan: %s\nproviders: {p: {module: %q}}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n", plan, guesttest.Computing(t)))
	}
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		t.Fatal(err)
	}
	var ahead atomic.Int64
	h := &hosted{tb: t, keys: map[string]string{}}
	n, report, err := node.Open(t.Context(), node.Config{
		Settings: s, CacheDir: guesttest.CacheDir(t), Version: "1", Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	if err != nil || len(report.Problems) > 0 {
		t.Fatal(err, report)
	}
	h.Node = n
	h.serve()
	limit := regexp.MustCompile(`"limit":"([a-z_]+)".*"retryAfterMs":(\d+)|"retryAfterMs":(\d+).*"limit":"([a-z_]+)"`)
	refused := func(id, want string) bool {
		t.Helper()
		m := limit.FindStringSubmatch(h.compute(id, 50_000).body)
		if m == nil {
			return false
		}
		after, _ := strconv.Atoi(m[2] + m[3])
		if m[1]+m[4] != want || after <= 0 || after > 24*60*60*1000 {
			t.Errorf("%s got %q", id, m)
		}
		return true
	}
	for id, want := range map[string]string{"rate": "requests", "day": "cpu_day"} {
		for !refused(id, want) { // until it has used up what it may
		}
	}
	requests := uint64(0)
	for _, step := range []time.Duration{10 * 365 * 24 * time.Hour, -24 * time.Hour, 0} {
		ahead.Store(int64(step))
		h.CheckClock()
		for id, want := range map[string]string{"rate": "requests", "day": "cpu_day"} {
			if !refused(id, want) {
				t.Errorf("with a clock that is %v ahead, %s is served again", step, id)
			}
		}
		answers := make(chan answer)
		for range 4 { // of which one runs and the others wait
			requests++
			go func() { answers <- h.compute("free", 1000) }()
		}
		for range 4 {
			if got := <-answers; !got.isResult() {
				t.Errorf("with a clock that is %v ahead: got %d %s", step, got.status, got.body)
			}
		}
	}
	rows, err := h.Usage(t.Context(), usage.Query{Tenant: "free", To: time.Now().Add(100 * 365 * 24 * time.Hour)})
	counted := uint64(0)
	for _, r := range rows {
		if r.Provider == "" {
			counted += r.Requests[usage.OK]
		}
	}
	if err != nil || counted != requests {
		t.Errorf("%d of %d requests are counted, %v", counted, requests, err)
	}
	if got := strings.Count(h.log.String(), "the clock was set"); got != 3 {
		t.Errorf("%d steps are in the log", got)
	}
}
