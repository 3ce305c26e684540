package host_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
)

// BenchmarkRollback measures the time from the update that rolls a version back until the last request begins that the version
// still answers, and until the last of its answers is there, with eight clients that read all the time. The store takes what
// a write of it takes, in addition.
func BenchmarkRollback(b *testing.B) {
	for _, kind := range []struct {
		name      string
		bad, good tenant.Route
	}{
		{"canary", tenant.Route{Active: 1, Canary: 3, Share: 100}, tenant.Route{Active: 1}},
		{"active", tenant.Route{Active: 3, Previous: 1}, tenant.Route{Active: 1, Previous: 3}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			modules, versions := versionsOf(b)
			s := serve(b, host.Config{Blob: modules.take})
			update := func(r tenant.Route) { s.Update(deployed(&r, versions...)) }
			update(tenant.Route{Active: 1})
			s.text("a")
			var begun, ended []time.Duration
			for b.Loop() {
				update(kind.bad)
				for s.text("a") != "next" {
				}
				var mu sync.Mutex
				var command, lastBegun, lastEnded time.Time
				stop := make(chan struct{})
				var clients sync.WaitGroup
				for i := range 8 {
					clients.Go(func() {
						for {
							select {
							case <-stop:
								return
							default:
							}
							began := time.Now()
							bad := s.text(fmt.Sprintf("a:%d", i)) == "next"
							mu.Lock()
							if bad && began.After(lastBegun) {
								lastBegun = began
							}
							if bad {
								lastEnded = time.Now()
							}
							mu.Unlock()
						}
					})
				}
				time.Sleep(20 * time.Millisecond)
				command = time.Now()
				update(kind.good)
				time.Sleep(100 * time.Millisecond)
				close(stop)
				clients.Wait()
				begun, ended = append(begun, max(lastBegun.Sub(command), 0)), append(ended, max(lastEnded.Sub(command), 0))
			}
			for name, times := range map[string][]time.Duration{"begun": begun, "ended": ended} {
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, name+"-worst-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
