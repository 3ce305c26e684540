package host_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
)

// What the operator changes while the providers of a tenant are loaded holds when they are.
func TestAChangeDuringAnOpeningHolds(t *testing.T) {
	const reference = "registry.example.com/hello:1"
	file := guesttest.File(t, "hello")
	for _, c := range []struct {
		name   string
		next   []*tenant.Tenant
		status int // of the next request
	}{
		{"disabled", []*tenant.Tenant{{ID: "a", Disabled: true, Providers: with("a", reference).Providers}}, http.StatusForbidden},
		{"removed", nil, http.StatusNotFound},
		{"removed and added", []*tenant.Tenant{with("a", file)}, http.StatusOK},
		{"reached by another name", []*tenant.Tenant{{ID: "a", Hosts: []string{"a.example.com"}, Providers: with("a", file).Providers}}, http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			loading, load, released := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s := serve(t, host.Config{Module: func(context.Context, string) (host.Module, error) {
				close(loading)
				<-load
				return host.Module{File: file, Release: func() { close(released) }}, nil
			}})
			s.Update(snapshot(with("a", reference)))
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				s.read("/t/a/mcp", "a", "hello://about")
			}()
			<-loading
			if c.name == "removed and added" {
				s.Update(snapshot())
			}
			s.Update(snapshot(c.next...))
			close(load)
			<-answered
			<-released // the providers of a tenant that has others, or none, are closed
			if status, text := s.read("/t/a/mcp", "a", "hello://about"); status != c.status {
				t.Errorf("got %d %s, want %d", status, text, c.status)
			}
			if len(c.next) == 0 || len(c.next[0].Hosts) == 0 {
				return
			}
			req := s.request("/mcp", "a", "resources/list", "", map[string]any{})
			req.Host = "a.example.com"
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("by its new name: got %d, want 200", resp.StatusCode)
			}
		})
	}
}

// isUnavailable reports whether an answer says when to retry.
func isUnavailable(text string) bool {
	return strings.Contains(text, `"code":"unavailable"`) && strings.Contains(text, `"retryAfterMs":`)
}

// No client waits for ever for a tenant that is being opened: it is told when to retry. The opening goes on.
func TestNoRequestWaitsForEverForAnOpening(t *testing.T) {
	const reference = "registry.example.com/hello:1"
	file := guesttest.File(t, "hello")
	load := make(chan struct{})
	s := serve(t, host.Config{OpenWait: time.Millisecond, Module: func(context.Context, string) (host.Module, error) {
		<-load
		return host.Module{File: file, Release: func() {}}, nil
	}})
	s.Update(snapshot(with("a", reference)))
	if status, text := s.read("/t/a/mcp", "a", "hello://about"); status != http.StatusOK || !isUnavailable(text) {
		t.Errorf("a read: got %d %s, want an error with the time to retry after", status, text)
	}
	for _, c := range []struct {
		name, method, body string
		status             int
		text               string
	}{
		{"a stream", "subscriptions/listen", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` + meta + `}}`, 200, `"retryAfterMs":`},
		{"a session", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, 200, `"limit":"live"`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+"/t/a/mcp", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", "Bearer a")
		if c.method != "" {
			req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			req.Header.Set("Mcp-Method", c.method)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(text), c.text) || resp.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: got %d %s, %v, want %d with %s and no session", c.name, resp.StatusCode, text, err, c.status, c.text)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/t/a/mcp?uri=hello://about", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer a")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a download: got %d, %v, want 503 with Retry-After", resp.StatusCode, resp.Header)
	}
	close(load)
	for ; ; time.Sleep(50 * time.Millisecond) { // until the opening has ended, without more requests than the tenant may send
		if _, text := s.read("/t/a/mcp", "a", "hello://about"); !isUnavailable(text) {
			if !strings.Contains(text, `"contents":`) {
				t.Errorf("after the opening: got %s", text)
			}
			return
		}
	}
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// A tenant whose providers cannot be loaded again and again is opened after a longer wait each time, also where the machine lacks
// something for them.
func TestAnOpeningThatFailsForTheMachineWaitsForLonger(t *testing.T) {
	var opened atomic.Int32
	s := serve(t, host.Config{Module: func(context.Context, string) (host.Module, error) {
		opened.Add(1)
		e := abi.Errorf(abi.CodeUnavailable, "too little memory")
		e.RetryAfter = time.Second
		return host.Module{}, e
	}})
	s.Update(snapshot(with("a", "registry.example.com/hello:1")))
	for i, want := range []string{`"retryAfterMs":1000`, `"retryAfterMs":2000`} {
		text := ""
		for opened.Load() == int32(i) {
			time.Sleep(100 * time.Millisecond)
			_, text = s.read("/t/a/mcp", "a", "hello://about")
		}
		if !strings.Contains(text, want) {
			t.Errorf("attempt %d: got %s, want %s", i+1, text, want)
		}
	}
}
