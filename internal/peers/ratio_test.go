package peers_test

import (
	"flag"
	goruntime "runtime"
	"testing"
	"time"
)

var rounds = flag.Int("rounds", 9, "how often BenchmarkRatios measures each host; the best time counts")

const (
	moment = 10 * time.Millisecond // how long a host is measured in a round, at least one request
	most   = 1000                  // requests in a round
)

// BenchmarkRatios is a request to each host, measured in turns, and how many times as long as in wasmres it takes. What
// a round leaves to the garbage collector is collected before the next, and is nobody's: that is in favour of those who
// make a new instance for every request.
func BenchmarkRatios(b *testing.B) {
	for _, g := range guests {
		for _, r := range reads {
			b.Run(g.name+"/"+r.name, func(b *testing.B) {
				best := measure(b, g, r)
				for i, h := range hosts {
					b.Run(h.name, func(b *testing.B) {
						b.ReportMetric(float64(best[i].Nanoseconds()), "ns/op")
						b.ReportMetric(float64(best[i])/float64(best[0]), "x-wasmres")
					})
				}
			})
		}
	}
}

// measure gives the best time of a request for each host.
func measure(b *testing.B, g guest, r read) []time.Duration {
	b.Helper()
	var asks []asked
	for _, h := range hosts {
		asks = append(asks, h.open(b, g))
	}
	best := make([]time.Duration, len(hosts))
	for i, ask := range asks {
		repeat(b, ask, r.uri, 2) // what only the first ones pay
		best[i] = repeat(b, ask, r.uri, 1)
	}
	for range *rounds {
		for i, ask := range asks {
			goruntime.GC()
			times := int(min(max(moment/max(best[i], 1), 1), most))
			best[i] = min(best[i], repeat(b, ask, r.uri, times))
		}
	}
	return best
}

// repeat gives the mean time of some requests.
func repeat(b *testing.B, ask asked, uri []byte, times int) time.Duration {
	b.Helper()
	began := time.Now()
	for range times {
		if _, err := ask(uri); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began) / time.Duration(times)
}
