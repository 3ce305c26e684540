package nodebench

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
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
// token that it has not, over one connection each: by the algorithm that most issuers use, and by the one that takes longest to verify.
// They take turns, and with them the check of a signature alone, by this process. A third client has a verified token and pauses
// before each request for as long as that check takes: then provider and client sleep as they do while the server verifies, and are as
// slow to wake.
func BenchmarkHostingNewToken(b *testing.B) {
	for _, algorithm := range []string{authtest.RS256, authtest.ES256} {
		b.Run(algorithm, func(b *testing.B) { benchmarkNewToken(b, algorithm) })
	}
}

func benchmarkNewToken(b *testing.B, algorithm string) {
	const perTurn, turns = 200, 20
	i := authtest.New(b)
	i.Publish(authtest.NewKey(algorithm, algorithm))
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
	check := signature(b, algorithm)
	var bare time.Duration
	for b.Loop() {
		for turn := range turns {
			known.turn(b, perTurn)
			began := ownTime(b)
			for range perTurn {
				check()
			}
			took := ownTime(b) - began
			bare += took
			before, _ := s.used()
			for range perTurn {
				for until := time.Now().Add(took / perTurn); time.Now().Before(until); {
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
	b.ReportMetric(float64(bare.Microseconds())/n, "signature-us")
	b.ReportMetric(float64((fresh.own-known.own).Microseconds())/n, "verifying-us")
	b.ReportMetric(float64((fresh.own-paced.own).Microseconds())/n, "verifying-paced-us")
	b.ReportMetric(0, "ns/op")
}

// signature returns the check of a signature by an algorithm, with a key of the size that those of issuers have.
func signature(b *testing.B, algorithm string) (check func()) {
	b.Helper()
	digest := sha256.Sum256([]byte(b.Name()))
	var key crypto.Signer
	var err error
	if algorithm == authtest.RS256 {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		b.Fatal(err)
	}
	signed, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		switch public := key.Public().(type) {
		case *rsa.PublicKey:
			err = rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], signed)
		case *ecdsa.PublicKey:
			if !ecdsa.VerifyASN1(public, digest[:], signed) {
				err = errors.New("the signature is wrong")
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	}
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
