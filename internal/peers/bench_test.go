package peers_test

import (
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A read is a request that is measured.
type read struct {
	name string
	uri  []byte
}

var reads = []read{{"text", text}, {"fmt", format}}

// BenchmarkPeers is a request to each host.
func BenchmarkPeers(b *testing.B) {
	for _, g := range guests {
		for _, r := range reads {
			for _, h := range hosts {
				b.Run(g.name+"/"+r.name+"/"+h.name, func(b *testing.B) {
					ask := h.open(b, g)
					b.ReportAllocs()
					for b.Loop() {
						if _, err := ask(r.uri); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkSplit is a clean call of wasmres: the time until the answer is there, the time to put the instance back,
// which is off the way of the answer, and both. Each includes what it takes to look at the clock.
func BenchmarkSplit(b *testing.B) {
	for _, g := range guests {
		for _, r := range reads {
			b.Run(g.name+"/"+r.name, func(b *testing.B) {
				source := load(b, g).Source()
				reset := source.(resource.AfterResponder)
				uri := abi.MustParseURI(string(r.uri))
				var sink buffer
				var calls, settles, both times
				for b.Loop() {
					sink.bytes = sink.bytes[:0]
					began := time.Now()
					_, err := source.Read(b.Context(), &resource.Request{URI: uri}, &sink)
					called := time.Now()
					reset.AfterResponse()
					settled := time.Now()
					calls.add(called.Sub(began))
					settles.add(settled.Sub(called))
					both.add(settled.Sub(began))
					check(b, err)
				}
				b.ReportMetric(calls.quantile(0.5), "call-p50-ns")
				b.ReportMetric(settles.quantile(0.5), "settle-p50-ns")
				b.ReportMetric(both.quantile(0), "min-ns")
				b.ReportMetric(both.quantile(0.5), "p50-ns")
				b.ReportMetric(both.quantile(0.99), "p99-ns")
			})
		}
	}
}

// Times are how often each number of nanoseconds was measured; the last one is what it is or more.
type times [1 << 16]int

func (t *times) add(d time.Duration) { t[min(d.Nanoseconds(), int64(len(t)-1))]++ }

func (t *times) quantile(q float64) float64 {
	all := 0
	for _, n := range t {
		all += n
	}
	before := 0
	for ns, n := range t {
		if before += n; n > 0 && float64(before) >= q*float64(all) {
			return float64(ns)
		}
	}
	return 0
}
