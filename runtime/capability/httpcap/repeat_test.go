package httpcap_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
)

func TestOnlyReadsMayBeRepeated(t *testing.T) {
	g := open(t, nil, httpcap.Config{Rules: []httpcap.Rule{{Host: "a.test", Methods: []string{"GET", "HEAD", "POST"}}}})
	may := func(id abi.Service, request []byte) bool {
		return g.services[id].(capability.Repeatable).MayRepeat(request)
	}
	for method, want := range map[string]bool{
		"": true, "GET": true, "HEAD": true,
		"POST": false, "PUT": false, "PATCH": false, "DELETE": false, "OPTIONS": false, "QUERY": false, "get": false,
	} {
		request := (&abi.HTTPRequest{Method: method, URL: "https://a.test/"}).Append(nil)
		if got := may(abi.ServiceHTTP, request); got != want {
			t.Errorf("%q: got %v, want %v", method, got, want)
		}
	}
	if may(abi.ServiceHTTP, []byte("\xff")) {
		t.Error("a malformed request may be repeated")
	}
	if !may(abi.ServiceStream, (&abi.StreamRequest{Stream: 1}).Append(nil)) {
		t.Error("reading more of a body may not be repeated")
	}
}

// TestARequestThatMayChangeSomethingIsSentOnce has a server that closes each connection in the middle of the second
// request on it: net/http takes that for a connection that was idle for too long, and sends some requests again.
func TestARequestThatMayChangeSomethingIsSentOnce(t *testing.T) {
	for _, tt := range []struct {
		method string
		header []abi.HTTPField
		sent   int64
	}{
		{"POST", nil, 1},
		{"POST", []abi.HTTPField{{Name: "Idempotency-Key", Value: "k"}}, 1},
		{"PUT", []abi.HTTPField{{Name: "x-idempotency-key", Value: "k"}}, 1},
		{"GET", nil, 2}, // shows that the server closes connections
	} {
		var sent atomic.Int64
		cert, roots := certificate(t)
		o := &origin{roots: roots, Server: httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.URL.Path != "/change" {
				return
			}
			if len(tt.header) > 0 && r.Header.Get(tt.header[0].Name) != "k" {
				t.Errorf("%s: the header was not sent: %v", tt.method, r.Header)
			}
			if sent.Add(1) > 1 {
				return
			}
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		}))}
		o.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		o.Config.ErrorLog = log.New(io.Discard, "", 0)
		o.StartTLS()
		t.Cleanup(o.Close)
		o.port = portOf(t, o.Listener)
		g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{everything(o)}})
		for _, req := range []abi.HTTPRequest{
			{URL: o.at("a.test", "/first")},
			{Method: tt.method, URL: o.at("a.test", "/change"), Header: tt.header},
		} {
			_, _ = g.services[abi.ServiceHTTP].Call(t.Context(), req.Append(nil))
		}
		if got := sent.Load(); got != tt.sent {
			t.Errorf("%s %v: sent %d times, want %d", tt.method, tt.header, got, tt.sent)
		}
	}
}
