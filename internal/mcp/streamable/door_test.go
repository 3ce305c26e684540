package streamable_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/mcp/streamable"
)

func TestDoor(t *testing.T) {
	list := body("1", "resources/list", "")
	tests := []struct {
		name       string
		local      bool
		configured bool
		host       string
		origin     string
		want       int
	}{
		{"public, no origin", false, false, "mcp.test", "", 200},
		{"public, same origin", false, false, "mcp.test", "http://mcp.test", 200},
		{"public, same origin behind TLS", false, false, "mcp.test", "https://mcp.test", 200},
		{"public, same origin, port spelled out", false, false, "mcp.test:443", "https://mcp.test", 200},
		{"public, other port", false, false, "mcp.test:8080", "http://mcp.test", 403},
		{"public, other origin", false, false, "mcp.test", "http://evil.test", 403},
		{"public, localhost origin", false, false, "mcp.test", "http://localhost:3000", 403},
		{"public, null origin", false, false, "mcp.test", "null", 403},
		{"public, nonsense", false, false, "mcp.test", "http://mcp.test/path", 403},
		{"public, allowed origin", false, true, "mcp.test", "https://app.test", 200},
		{"public, allowed origin with port", false, true, "mcp.test", "https://app.test:443", 200},
		{"public, allowed origin of other scheme", false, true, "mcp.test", "http://app.test", 403},
		{"public, other host when some are allowed", false, true, "evil.test", "", 403},
		{"public, allowed host", false, true, "MCP.test:8443", "", 200},
		{"public, allowed host, other port than allowed", false, true, "ported.test:81", "", 403},
		{"public, allowed host and port", false, true, "ported.test:80", "", 200},
		{"local, localhost", true, false, "localhost:8080", "", 200},
		{"local, 127.0.0.1", true, false, "127.0.0.1:8080", "http://127.0.0.1:8080", 200},
		{"local, ::1", true, false, "[::1]:8080", "http://[::1]:8080", 200},
		{"local, ::1 without port", true, false, "[::1]", "", 200},
		{"local, other host", true, false, "evil.test:8080", "", 403},
		{"local, rebound", true, false, "evil.test", "http://evil.test", 403},
		{"local, localhost origin", true, false, "localhost:8080", "http://localhost:3000", 200},
		{"local, other origin", true, false, "localhost:8080", "http://evil.test", 403},
		{"local, name that begins alike", true, false, "localhost.evil.test", "", 403},
		{"local, allowed host", true, true, "mcp.test", "", 200},
		{"local, no host", true, false, "", "", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := streamable.Config{Legacy: &legacy{}}
			if tt.configured {
				cfg.AllowedHosts = []string{"mcp.test", "ported.test:80"}
				cfg.AllowedOrigins = []string{"https://app.test"}
			}
			h := newHandler(t, source(), cfg)
			for _, legacy := range []bool{false, true} {
				r, want := post(list, "Host", tt.host, "Origin", tt.origin), tt.want
				if legacy {
					r.Header.Set("MCP-Protocol-Version", "2025-06-18")
					r.Body = io.NopCloser(strings.NewReader("{}"))
					if want == 200 {
						want = http.StatusTeapot
					}
				}
				if tt.local {
					r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}))
				}
				if status, _, answer := do(h, r); status != want {
					t.Errorf("legacy %v: got %d, want %d: %s", legacy, status, want, answer)
				}
			}
		})
	}
}

func TestCORS(t *testing.T) {
	h := newHandler(t, source(), streamable.Config{AllowedOrigins: []string{"https://app.test"}})
	r := httptest.NewRequest(http.MethodOptions, "/mcp", nil)
	r.Header.Set("Origin", "https://app.test")
	r.Header.Set("Access-Control-Request-Method", "POST")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "https://app.test" {
		t.Errorf("asked before: got %d, %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, post(body("1", "resources/list", ""), "Origin", "https://app.test"))
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "https://app.test" || w.Header().Get("Vary") != "Origin" {
		t.Errorf("asked: got %d, %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, post(body("1", "resources/list", ""), "Origin", "https://mcp.test", "Host", "mcp.test"))
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("same origin: got %d, %v", w.Code, w.Header())
	}
}
