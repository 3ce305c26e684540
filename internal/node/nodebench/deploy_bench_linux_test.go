package nodebench

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
)

// BenchmarkHostingPush is the time from the push of a module to its first answer to a client: admission, compilation, the trial
// and the start included. The code is new: the server has compiled nothing before. "known" is the push of another module
// with the same code.
func BenchmarkHostingPush(b *testing.B) {
	for _, l := range []language{inC, inGo} {
		b.Run(l.name, func(b *testing.B) {
			binary := l.binary(b)
			again := append(bytes.Clone(binary), 0, 6, 5, 'a', 'g', 'a', 'i', 'n') // a custom section
			var fresh, known []time.Duration
			for b.Loop() {
				f := newFarm(b, "")
				f.write(b, "tenants/acme.yaml", "providers: {p: {}}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n")
				s := start(b, "serve", "--config", filepath.Join(f.dir, "serve.yaml"), "--cache-dir", filepath.Join(f.dir, "cache"))
				s.admin = admin.NewClient(filepath.Join(f.dir, "data", admin.SocketName))
				b.Cleanup(s.admin.Close)
				awaitOperators(b, s)
				time.Sleep(time.Second) // the standby workers are ready
				fresh = append(fresh, push(b, s, l, binary, 1))
				known = append(known, push(b, s, l, again, 2))
				s.stop()
			}
			b.ReportMetric(quantile(fresh, .5), "p50-ms")
			b.ReportMetric(quantile(fresh, 0), "best-ms")
			b.ReportMetric(quantile(known, .5), "known-p50-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func awaitOperators(b *testing.B, s *server) {
	b.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_, err := s.admin.Node(b.Context())
		if err == nil {
			return
		}
		if time.Now().After(until) {
			b.Fatalf("operators cannot connect: %v", err)
		}
	}
}

// push pushes a module, and returns the time until its version is active and has answered.
func push(b *testing.B, s *server, l language, module []byte, number int) time.Duration {
	b.Helper()
	began := time.Now()
	if _, err := s.admin.PushVersion(b.Context(), "acme", "p", admin.NewVersion{Next: "promote", Approve: true}, bytes.NewReader(module)); err != nil {
		b.Fatal(err)
	}
	for v := (admin.Version{}); v.Route != "active"; time.Sleep(time.Millisecond) {
		var err error
		if v, err = s.admin.Version(b.Context(), "acme", "p", number); err != nil || v.Reason != "" {
			b.Fatalf("version %d: %s, %v", number, v.Reason, err)
		}
	}
	c := s.dial()
	for {
		status, body, _, err := c.exchange(read("acme", "", l.uri))
		if err != nil {
			b.Fatal(err)
		}
		if isResult(status, body) {
			return time.Since(began)
		}
		time.Sleep(time.Millisecond)
	}
}
