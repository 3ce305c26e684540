package node_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/blobs"
	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/internal/tenant"
)

var notes = tenant.ProviderID{Tenant: "acme", Provider: "notes"}

// Answers of the versions that deploy makes.
const fine, next = "200 OK fine", "200 OK next"

// deploy makes three versions of the provider notes: x:o is "fine" in the first one, crashes the second, and is "next" in the
// third. The first one is active.
func (c *crashing) deploy(tb testing.TB) {
	tb.Helper()
	store, err := blobs.Open(filepath.Join(c.data, "blobs"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(sourcetree.Root(), "testdata", "wasm", "faults.wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	change := tenant.Change{Actor: "test", SetRoutes: []*tenant.Route{{Tenant: "acme", Provider: "notes", Active: 1}}}
	for i, module := range [][]byte{
		first,
		bytes.Replace(first, []byte("\x41\xe1\x00"), []byte("\x41\xef\x00"), 1), // 'o' traps, and not 'a'
		bytes.Replace(first, []byte("fine"), []byte("next"), 1),
	} {
		b, err := store.Add(tb.Context(), bytes.NewReader(module), 1<<20)
		if err != nil {
			tb.Fatal(err)
		}
		change.SetVersions = append(change.SetVersions, &tenant.Version{
			Tenant: "acme", Provider: "notes", Number: i + 1, Digest: b.Digest, Size: int64(len(module)), State: tenant.StateApproved,
		})
	}
	if _, err := c.node.Apply(tb.Context(), change); err != nil {
		tb.Fatal(err)
	}
}

// route has versions serve.
func (c *crashing) route(tb testing.TB, r tenant.Route) {
	tb.Helper()
	r.Tenant, r.Provider = notes.Tenant, notes.Provider
	if _, err := c.node.Apply(tb.Context(), tenant.Change{Actor: "test", SetRoutes: []*tenant.Route{&r}}); err != nil {
		tb.Fatal(err)
	}
}

// A version that crashes under load goes back by itself: its clients first, then what the store and the ledger say.
func TestACrashingVersionIsWrittenDownAsFailed(t *testing.T) {
	c := serveCrashing(t, "  notes: {}\n", "plan: unbounded\n")
	c.deploy(t)
	if got := c.read(t, "x:o"); got != fine {
		t.Fatalf("got %s from the active version", got)
	}
	c.route(t, tenant.Route{Active: 1, Canary: 2, Share: 100})
	failures := 0
	for c.node.Snapshot().Routes[notes].Canary != 0 { // until it is written down
		if c.read(t, "x:o") != fine {
			failures++
		}
	}
	if failures == 0 || c.read(t, "x:o") != fine {
		t.Errorf("%d reads failed, and the last one gave %s", failures, c.read(t, "x:o"))
	}
	v := c.node.Snapshot().VersionOf(notes, 2)
	if r := c.node.Snapshot().Routes[notes]; r.Active != 1 || r.Share != 0 || v.State != tenant.StateFailed || !strings.Contains(v.Reason, "fault") {
		t.Errorf("got route %+v, version %s for %q", r, v.State, v.Reason)
	}
	actions := []string{}
	for _, l := range ledgerOf(t, c.data) {
		if l.Actor == "rollout" {
			actions = append(actions, l.Action)
		}
	}
	slices.Sort(actions)
	if !slices.Equal(actions, []string{"route.set", "version.failed"}) {
		t.Errorf("the ledger has %q of rollout", actions)
	}
}

// BenchmarkRollback measures the time from the command that rolls a version back, the write of store and ledger included, until
// the last request begins that the version still answers, with eight clients that read all the time.
func BenchmarkRollback(b *testing.B) {
	for _, kind := range []struct {
		name      string
		bad, good tenant.Route
	}{
		{"canary", tenant.Route{Active: 1, Canary: 3, Share: 100}, tenant.Route{Active: 1}},
		{"active", tenant.Route{Active: 3, Previous: 1}, tenant.Route{Active: 1, Previous: 3}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			c := serveCrashing(b, "  notes: {}\n", "plan: unbounded\n")
			c.deploy(b)
			var begun, written []time.Duration
			for b.Loop() {
				c.route(b, kind.bad)
				for c.read(b, "x:o") != next {
				}
				last, stop := make([]time.Time, 8), make(chan struct{})
				var clients sync.WaitGroup
				for i := range last {
					clients.Go(func() {
						for {
							select {
							case <-stop:
								return
							default:
							}
							if began := time.Now(); c.read(b, "x:o") == next {
								last[i] = began
							}
						}
					})
				}
				time.Sleep(20 * time.Millisecond)
				command := time.Now()
				c.route(b, kind.good)
				written = append(written, time.Since(command))
				time.Sleep(100 * time.Millisecond)
				close(stop)
				clients.Wait()
				begun = append(begun, max(slices.MaxFunc(last, time.Time.Compare).Sub(command), 0))
			}
			for name, times := range map[string][]time.Duration{"begun": begun, "written": written} {
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, name+"-worst-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
