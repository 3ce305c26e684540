package nodebench

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/tenant"
)

// BenchmarkHostingRollback is the time from the command that rolls a version back until the last request begins that this
// version still answers, with eight clients that read all the time, and until the operator has the answer.
func BenchmarkHostingRollback(b *testing.B) {
	const rounds = 30
	f := newFarm(b, unbounded)
	f.write(b, "tenants/acme.yaml", "plan: unbounded\nproviders: {p: {}}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n")
	s := f.serve(b)
	request := read("acme", "", inC.uri)
	isBad := func(c *client) bool {
		status, body, _, err := c.exchange(request)
		if err != nil {
			b.Error(err)
		}
		return isResult(status, body)
	}
	c := s.dial()
	for _, l := range []language{inGo, inC} { // the second has the resource that clients read
		s.deploy("acme", "p", l.binary(b))
		isBad(c) // both have served by now, as versions that are rolled back and back to have
	}
	var begun, answered []time.Duration
	for b.Loop() {
		for range rounds {
			for !isBad(c) {
			}
			last, stop := make([]time.Time, 8), make(chan struct{})
			var clients sync.WaitGroup
			for i := range last {
				c := s.dial()
				clients.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if began := time.Now(); isBad(c) {
							last[i] = began
						}
					}
				})
			}
			time.Sleep(50 * time.Millisecond)
			command := time.Now()
			if _, err := s.admin.Rollback(b.Context(), "acme", "p", ""); err != nil {
				b.Fatal(err)
			}
			answered = append(answered, time.Since(command))
			time.Sleep(200 * time.Millisecond)
			close(stop)
			clients.Wait()
			longest := time.Duration(0)
			for _, t := range last {
				longest = max(longest, t.Sub(command))
			}
			begun = append(begun, longest)
			if _, err := s.admin.Promote(b.Context(), "acme", "p", 2, ""); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(quantile(begun, .5), "begun-p50-ms")
	b.ReportMetric(quantile(begun, 1), "begun-worst-ms")
	b.ReportMetric(quantile(answered, .5), "answered-p50-ms")
	b.ReportMetric(0, "ns/op")
}

// deploy pushes a version, and waits until it is approved.
func (s *server) deploy(tenantID, provider string, module []byte) {
	s.b.Helper()
	v, err := s.admin.PushVersion(s.b.Context(), tenantID, provider, admin.NewVersion{Approve: true, Policy: "version: \"1.0\"\npermissions: {}\n"}, bytes.NewReader(module))
	for until := time.Now().Add(time.Minute); err == nil && v.Route != "active"; v, err = s.admin.Version(s.b.Context(), tenantID, provider, v.Number) {
		if v.State == tenant.StateRefused || time.Now().After(until) {
			s.b.Fatalf("version %d is %s: %s", v.Number, v.State, v.Reason)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		s.b.Fatal(err)
	}
}
