package host_test

import (
	"context"
	"net/http"
	"testing"

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
