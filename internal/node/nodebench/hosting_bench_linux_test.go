package nodebench

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

// Sizes of the benchmarks, which docs/hosting.md explains.
var (
	tenants  = flag.Int("hosting.tenants", 5000, "tenants of Ready, Idle and Reload")
	digests  = flag.Int("hosting.digests", 20, "modules of each language, of which tenants share each")
	starts   = flag.Int("hosting.starts", 10, "cold starts of each kind in Cold")
	requests = flag.Int("hosting.requests", 20000, "requests of each kind in AuthRead")
	seconds  = flag.Duration("hosting.duration", 10*time.Second, "of Beside and Crowd")
	crowd    = flag.Int("hosting.crowd", 100, "tenants of Crowd, with ten connections each")
	calls    = flag.Int("hosting.calls", 0, "calls that run at once in Fair and Light, if not as many as by default")
	rate     = flag.Int("hosting.rate", 500, "requests a second in Crowd")
)

// unbounded is a plan that limits no request.
const unbounded = "plans: {unbounded: {requests: {rate: 1000000/s, burst: 1000000}, principal_requests: {rate: 1000000/s, burst: 1000000}, " +
	"concurrent: 10000, bytes_out: {rate: 1000Gi/s}}}\n"

// BenchmarkHostingReady is the time from the start of wasmres serve until it listens: with a new data folder, and with one
// that knows all tenants.
func BenchmarkHostingReady(b *testing.B) {
	for b.Loop() {
		f := newFarm(b, "")
		f.many(b, *tenants, *digests, keyed)
		for _, kind := range []string{"first", "again"} {
			s := f.serve(b)
			_, cpu := s.used()
			s.stop()
			b.ReportMetric(milli(s.ready), kind+"-ms")
			b.ReportMetric(milli(cpu), kind+"-cpu-ms")
		}
	}
	b.ReportMetric(0, "ns/op")
}

func milli(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// BenchmarkHostingIdle is the memory of wasmres serve while no provider has a process, proportionally set.
func BenchmarkHostingIdle(b *testing.B) {
	f := newFarm(b, "")
	f.many(b, *tenants, *digests, keyed)
	for b.Loop() {
		for _, kind := range []string{"first", "again"} {
			s := f.serve(b)
			time.Sleep(5 * time.Second) // its standby workers are ready, and the collector has run
			own, children := s.memory()
			b.ReportMetric(own, kind+"-MiB")
			b.ReportMetric(children, kind+"-standby-MiB")
			s.stop()
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHostingCold is the time from a request to the first byte of its answer, of a provider without a process: of a
// tenant that the server has not opened since it began, and of one that it has. The files are in memory, and a standby
// worker is ready.
func BenchmarkHostingCold(b *testing.B) {
	for _, l := range []language{inC, inJavaScript, inGo} {
		b.Run(l.name, func(b *testing.B) {
			f := newFarm(b, "idle: 1s\n")
			f.modules(b, l, *starts)
			for i := range *starts {
				f.tenant(b, idOf(i), l, i, anonymous, "")
			}
			pass := func(s *server) (times []time.Duration) {
				for i := range *starts {
					c := s.dial()
					time.Sleep(500 * time.Millisecond) // the next standby worker is ready
					times = append(times, c.get(b, read(idOf(i), "", l.uri)))
				}
				s.awaitNoneLive()
				return times
			}
			for b.Loop() {
				s := f.serve(b)
				pass(s) // which compiles
				s.stop()
				s = f.serve(b)
				closed, open := pass(s), pass(s)
				s.stop()
				b.ReportMetric(quantile(closed, .5), "unopened-p50-ms")
				b.ReportMetric(quantile(open, .5), "p50-ms")
				b.ReportMetric(quantile(open, 0), "best-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkHostingReload is the time from the change of the file of one tenant until the server answers by it: where an
// operator asks for it, and where the server watches.
func BenchmarkHostingReload(b *testing.B) {
	for _, how := range []string{"asked", "watched"} {
		b.Run(how, func(b *testing.B) {
			f := newFarm(b, fmt.Sprintf("watch: %t\n", how == "watched"))
			f.many(b, *tenants, *digests, keyed)
			s := f.serve(b)
			c := s.dial()
			time.Sleep(time.Second)
			var times, reading []time.Duration
			for b.Loop() {
				for n := range 10 {
					status, access := 200, anonymous
					if n%2 == 1 {
						status, access = 401, keyed
					}
					time.Sleep(500 * time.Millisecond)
					began := time.Now()
					f.tenant(b, idOf(1), inC, 1, access, "")
					if how == "asked" {
						if _, err := s.admin.Reload(b.Context()); err != nil {
							b.Fatal(err)
						}
						reading = append(reading, time.Since(began))
					}
					for time.Since(began) < 10*time.Second {
						got, _, _, err := c.exchange(post(pathOf(idOf(1)), "", "resources/list", ""))
						if err != nil {
							b.Fatal(err)
						}
						if got == status {
							break
						}
						if how == "asked" {
							b.Fatalf("after the reload the status is %d, want %d", got, status)
						}
						time.Sleep(20 * time.Millisecond)
						c = s.dial()
					}
					times = append(times, time.Since(began))
				}
			}
			if how == "asked" {
				b.ReportMetric(quantile(reading, .5), "read-p50-ms")
			}
			b.ReportMetric(quantile(times, .5), "p50-ms")
			b.ReportMetric(quantile(times, 1), "worst-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
