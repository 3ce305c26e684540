package httpcap_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

func nowhere(context.Context, capability.Use) {}

// withDeadline returns a context with a deadline, as that of a guest's call.
func withDeadline(b *testing.B) context.Context {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	b.Cleanup(cancel)
	return ctx
}

// BenchmarkOverhead sends the same request by net/http alone and through the capability, in turns, so that a busy machine
// slows both alike. It reports the median of each, and the difference, which is the overhead of the capability.
func BenchmarkOverhead(b *testing.B) {
	plain, port := plainSite(b)
	client := &http.Client{Transport: &http.Transport{}}
	fetch := ask(b, httpcap.Config{Rules: []httpcap.Rule{local(port)}}, abi.HTTPRequest{URL: plain + "/ok"})
	ctx := withDeadline(b)
	var alone, through []time.Duration
	for b.Loop() {
		began := time.Now()
		get(ctx, b, client, plain+"/ok")
		middle := time.Now()
		fetch()
		alone, through = append(alone, middle.Sub(began)), append(through, time.Since(middle))
	}
	b.ReportMetric(float64(median(alone)), "alone-ns/op")
	b.ReportMetric(float64(median(through)), "through-ns/op")
	b.ReportMetric(float64(median(through)-median(alone)), "overhead-ns/op")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkRequest compares kinds of requests.
func BenchmarkRequest(b *testing.B) {
	plain, port := plainSite(b)
	granted := httpcap.Config{Rules: []httpcap.Rule{local(port)}}
	withSecret := httpcap.Config{Rules: []httpcap.Rule{local(port)}, Secrets: store(b)}
	withSecret.Rules[0].Secrets = []string{"token"}
	for name, fetch := range map[string]func(){
		"plain":  ask(b, granted, abi.HTTPRequest{URL: plain + "/ok"}),
		"cached": ask(b, granted, abi.HTTPRequest{URL: plain + "/fresh"}),
		"secret": ask(b, withSecret, authorized(plain+"/ok", "token")),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fetch()
			}
		})
	}
}

// plainSite is a server on this machine without TLS.
func plainSite(b *testing.B) (url string, port uint16) {
	b.Helper()
	s := httptest.NewServer(site())
	b.Cleanup(s.Close)
	port = portOf(b, s.Listener)
	return fmt.Sprintf("http://127.0.0.1:%d", port), port
}

func local(port uint16) httpcap.Rule {
	return httpcap.Rule{Scheme: "http", Host: "127.0.0.1", Ports: []uint16{port}, Private: true}
}

// ask returns a function that sends a request through the capability.
func ask(b *testing.B, cfg httpcap.Config, req abi.HTTPRequest) func() {
	b.Helper()
	cfg.Observe = nowhere
	service := open(b, nil, cfg).services[abi.ServiceHTTP]
	ctx, message := withDeadline(b), req.Append(nil)
	return func() {
		if _, err := service.Call(ctx, message); err != nil {
			b.Fatal(err)
		}
	}
}

func get(ctx context.Context, b *testing.B, client *http.Client, url string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		b.Fatal(err)
	}
}
