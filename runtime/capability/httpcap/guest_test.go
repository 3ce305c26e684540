package httpcap_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A page is the text of a resource.
type page struct{ bytes.Buffer }

func (p *page) Content(*abi.Content) error { return nil }
func (p *page) Progress(abi.Progress)      {}
func (p *page) Body(b []byte) error {
	_, err := p.Write(b)
	return err
}

// The example web fetches from a TLS server, as a guest: a long page in parts, and one that requires a secret.
func TestAGuestFetches(t *testing.T) {
	o := newOrigin(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/docs/echo":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = w.Write([]byte("you are " + r.Header.Get("Authorization")))
		default:
			_, _ = w.Write(large)
		}
	}))
	rule := everything(o)
	rule.Paths, rule.Secrets = []string{"/docs"}, []string{"token"}
	g := open(t, o, httpcap.Config{Rules: []httpcap.Rule{rule}, Secrets: store(t)})
	services := capability.Services{
		abi.ServiceHTTP: g.services[abi.ServiceHTTP], abi.ServiceStream: g.services[abi.ServiceStream],
		abi.ServiceConfig: capability.Config{"origin": o.at("a.test", "/docs"), "authorization": "Bearer {{secret:token}}"},
	}
	engine, err := wazero.Open(wazero.Config{CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg := provider.Config{Runner: pool.InProcess{Engine: engine}, Services: services, Limits: limits.Limits{Timeout: time.Minute}}
	p, err := provider.Open(t.Context(), cfg, guesttest.Binary(t, "web"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	for uri, want := range map[string]string{"web://echo": "you are Bearer [redacted]", "web://long": string(large)} {
		var got page
		if _, err := p.Read(t.Context(), &resource.Request{URI: abi.MustParseURI(uri)}, &got); err != nil || got.String() != want {
			t.Errorf("%s: got %d bytes, %.60q, %v", uri, got.Len(), got.String(), err)
		}
	}
	if use := g.last(); !strings.HasPrefix(use.Subject, "GET https://a.test:") || use.Code != abi.CodeOK {
		t.Errorf("observed %+v", use)
	}
}
