package nodebench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
)

// tokenSettings says how clients reach a server whose tenants accept tokens.
const tokenSettings = "public_url: http://mcp.test\n"

// tokened are the roles of a tenant whose clients have tokens of an issuer.
func tokened(i *authtest.Issuer) string {
	return fmt.Sprintf(`{roles: {all: [{uris: ["**"]}]}, auth: {issuers: [{issuer: %q, insecure: true, roles: [all]}]}}`, i.URL)
}

func resourceOf(id string) string { return "http://mcp.test/t/" + id + "/mcp" }

// BenchmarkHostingNewToken is the processor time of the server for a small read with a token that it has verified, and for one with a
// token that it has not, over one connection each. They take turns. It signs by the algorithm that takes longest to verify. A third
// client has a verified token and pauses before each request for about as long as verifying takes: then provider and client sleep as
// they do while the server verifies, and are as slow to wake.
func BenchmarkHostingNewToken(b *testing.B) {
	const perTurn, turns = 200, 20
	i := authtest.New(b)
	f := newFarm(b, tokenSettings+unbounded)
	f.modules(b, inGo, 1)
	f.tenant(b, "acme", inGo, 0, tokened(i), "plan: unbounded\n")
	s := f.serve(b)
	known := &kind{name: "known", of: s, request: read("acme", i.Token(resourceOf("acme")), inGo.uri)}
	known.prepare(b)
	fresh := &kind{name: "new", of: s, request: read("acme", i.Token(resourceOf("acme"), "jti", "0"), inGo.uri)}
	fresh.prepare(b)
	paced := &kind{name: "paced", of: s, request: known.request}
	paced.prepare(b)
	for b.Loop() {
		for turn := range turns {
			known.turn(b, perTurn)
			before, _ := s.used()
			for range perTurn {
				for until := time.Now().Add(100 * time.Microsecond); time.Now().Before(until); {
				}
				paced.exchange(b, paced.request)
			}
			after, _ := s.used()
			paced.own += after - before
			requests := make([][]byte, perTurn)
			for n := range requests {
				requests[n] = read("acme", i.Token(resourceOf("acme"), "jti", fmt.Sprint(b.N, turn, n)), inGo.uri)
			}
			own, _ := s.used()
			for _, request := range requests {
				fresh.exchange(b, request)
			}
			after, _ = s.used()
			fresh.own += after - own
		}
	}
	n := float64(b.N * perTurn * turns)
	b.ReportMetric(float64(known.own.Microseconds())/n, "known-us")
	b.ReportMetric(float64(fresh.own.Microseconds())/n, "new-us")
	b.ReportMetric(float64(paced.own.Microseconds())/n, "paced-us")
	b.ReportMetric(float64((fresh.own-known.own).Microseconds())/n, "verifying-us")
	b.ReportMetric(float64((fresh.own-paced.own).Microseconds())/n, "verifying-paced-us")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHostingBadTokens is the latency of a client's reads with a token, 40 a second, while no other client comes, and while
// others at the same address send 10,000 forged tokens a second, each different. They take turns.
func BenchmarkHostingBadTokens(b *testing.B) {
	const perSecond, connections, turns, forgeries = 10_000, 50, 4, 20_000
	i := authtest.New(b)
	f := newFarm(b, tokenSettings)
	f.modules(b, inGo, 1)
	f.tenant(b, "acme", inGo, 0, tokened(i), "")
	s := f.serve(b)
	honest := read("acme", i.Token(resourceOf("acme")), inGo.uri)
	c := s.dial()
	c.get(b, honest)
	stranger := authtest.NewKey(i.Key().ID, authtest.EdDSA)
	forged := make([][]byte, forgeries)
	for n := range forged {
		forged[n] = read("acme", stranger.Sign(map[string]any{"alg": "ES256"}, i.Claims(resourceOf("acme"), "jti", fmt.Sprint(n))), inGo.uri)
	}
	var alone, beside []time.Duration
	var sent atomic.Int64
	var flooded time.Duration
	measure := func() (times []time.Duration) {
		tick := time.NewTicker(time.Second / 40)
		defer tick.Stop()
		for until := time.Now().Add(*seconds / (2 * turns)); time.Now().Before(until); {
			<-tick.C
			times = append(times, c.get(b, honest))
		}
		return times
	}
	for b.Loop() {
		for range turns {
			alone = append(alone, measure()...)
			end := make(chan struct{})
			var flooding sync.WaitGroup
			for range connections {
				one := s.dial()
				flooding.Go(func() { one.forge(end, forged, perSecond/connections, &sent) })
			}
			began := time.Now()
			beside = append(beside, measure()...)
			flooded += time.Since(began)
			close(end)
			flooding.Wait()
		}
	}
	b.ReportMetric(quantile(alone, .99), "alone-p99-ms")
	b.ReportMetric(quantile(beside, .99), "beside-p99-ms")
	b.ReportMetric(quantile(beside, .99)/quantile(alone, .99), "beside/alone")
	b.ReportMetric(float64(sent.Load())/flooded.Seconds(), "bad/s")
	b.ReportMetric(0, "ns/op")
}

// forge sends forged requests, as many a second as it can up to a number.
func (c *client) forge(end chan struct{}, requests [][]byte, perSecond int, sent *atomic.Int64) {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		n := sent.Add(1)
		if _, _, _, err := c.exchange(requests[int(n)%len(requests)]); err != nil {
			return
		}
	}
}
