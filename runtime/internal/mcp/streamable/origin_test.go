package streamable_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

func TestOriginPolicy(t *testing.T) {
	const public, public6, mapped = "192.0.2.7:8080", "[2001:db8::7]:8080", "[::ffff:192.0.2.7]:8080"
	const local, local6, zoned = "127.0.0.1:8080", "[::1]:8080", "[fe80::7%eth0]:8080"
	list := streamtest.Body("1", "resources/list", "")
	tests := []struct {
		name   string
		addr   string // the connection came in on; empty for unknown
		allow  bool   // mcp.test, ported.test:80 and pages of https://app.test
		host   string
		origin string
		want   int
	}{
		{"own address", public, false, "192.0.2.7:8080", "", 200},
		{"own address, no port", public, false, "192.0.2.7", "", 200},
		{"own address, forwarded port", public, false, "192.0.2.7:9090", "", 200},
		{"own address, own page", public, false, "192.0.2.7:8080", "http://192.0.2.7:8080", 200},
		{"own address, other page", public, false, "192.0.2.7:8080", "http://evil.test:8080", 403},
		{"own address, page of another address", public, false, "192.0.2.7:8080", "http://192.0.2.8:8080", 403},
		{"own address, mapped to IPv6", mapped, false, "192.0.2.7:8080", "", 200},
		{"own address, IPv6", public6, false, "[2001:db8::7]:8080", "http://[2001:db8::7]:8080", 200},
		{"own address, IPv6 written in full", public6, false, "[2001:0DB8:0:0:0:0:0:7]", "", 200},
		{"own address, IPv6 with a zone", zoned, false, "[fe80::7]:8080", "", 200},
		{"IPv6 without brackets", public6, false, "2001:db8::7", "", 403},
		{"another address", public, false, "192.0.2.8:8080", "", 403},
		{"address in another notation", public, false, "0xc0000207:8080", "", 403},
		{"rebound name", public, false, "evil.test:8080", "", 403},
		{"rebound name, own page", public, false, "evil.test:8080", "http://evil.test:8080", 403},
		{"rebound name on IPv6", public6, false, "evil.test:8080", "http://evil.test:8080", 403},
		{"localhost from elsewhere", public, false, "localhost:8080", "", 403},
		{"loopback address from elsewhere", public, false, "127.0.0.1:8080", "", 403},
		{"no host", public, false, "", "", 403},
		{"name that begins like the address", public, false, "192.0.2.7.evil.test", "", 403},
		{"unknown address", "", false, "192.0.2.7:8080", "", 403},
		{"unknown address, name", "", false, "mcp.test", "", 403},
		{"unknown address, nonsense for a host", "", false, "invalid IP", "", 403},

		{"allowed name", public, true, "mcp.test", "", 200},
		{"allowed name, unknown address", "", true, "mcp.test", "", 200},
		{"allowed name, own page", public, true, "mcp.test", "http://mcp.test", 200},
		{"allowed name, own page behind TLS", public, true, "mcp.test", "https://mcp.test", 200},
		{"allowed name, own page, port spelled out", public, true, "mcp.test:443", "https://mcp.test", 200},
		{"allowed name, other port of the page", public, true, "mcp.test:8080", "http://mcp.test", 403},
		{"allowed name, any port and case", public, true, "MCP.test:8443", "", 200},
		{"allowed name, other page", public, true, "mcp.test", "http://evil.test", 403},
		{"allowed name, localhost page", public, true, "mcp.test", "http://localhost:3000", 403},
		{"allowed name, null origin", public, true, "mcp.test", "null", 403},
		{"allowed name, nonsense for an origin", public, true, "mcp.test", "http://mcp.test/path", 403},
		{"allowed name and page", public, true, "mcp.test", "https://app.test", 200},
		{"allowed name and page, port spelled out", public, true, "mcp.test", "https://app.test:443", 200},
		{"allowed name, allowed page of other scheme", public, true, "mcp.test", "http://app.test", 403},
		{"name that is not allowed, allowed page", public, true, "evil.test", "https://app.test", 403},
		{"name that is not allowed", public, true, "evil.test", "", 403},
		{"own address beside allowed names", public, true, "192.0.2.7:8080", "", 200},
		{"allowed name with a port, other port", public, true, "ported.test:81", "", 403},
		{"allowed name with a port", public, true, "ported.test:80", "", 200},

		{"local, localhost", local, false, "localhost:8080", "", 200},
		{"local, 127.0.0.1", local, false, "127.0.0.1:8080", "http://127.0.0.1:8080", 200},
		{"local, ::1", local6, false, "[::1]:8080", "http://[::1]:8080", 200},
		{"local, ::1 without port", local6, false, "[::1]", "", 200},
		{"local, another loopback address", "127.0.0.2:8080", false, "127.0.0.2:8080", "", 200},
		{"local, other host", local, false, "evil.test:8080", "", 403},
		{"local, rebound", local, false, "evil.test", "http://evil.test", 403},
		{"local, localhost origin", local, false, "localhost:8080", "http://localhost:3000", 200},
		{"local, other origin", local, false, "localhost:8080", "http://evil.test", 403},
		{"local, name that begins alike", local, false, "localhost.evil.test", "", 403},
		{"local, allowed name of a proxy", local, true, "mcp.test", "https://mcp.test", 200},
		{"local, no host", local, false, "", "", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := streamable.Config{Legacy: &legacy{}, AllowedHosts: []string{}}
			if tt.allow {
				cfg.AllowedHosts = []string{"mcp.test", "ported.test:80"}
				cfg.AllowedOrigins = []string{"https://app.test"}
			}
			h := streamtest.NewHandler(t, streamtest.Source(), cfg)
			for _, legacy := range []bool{false, true} {
				r, want := streamtest.Post(list, "Host", tt.host, "Origin", tt.origin), tt.want
				if legacy {
					r.Header.Set("MCP-Protocol-Version", "2025-06-18")
					r.Body = io.NopCloser(strings.NewReader("{}"))
					if want == 200 {
						want = http.StatusTeapot
					}
				}
				if tt.addr != "" {
					addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.addr))
					r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
				}
				if status, _, answer := streamtest.Do(h, r); status != want {
					t.Errorf("legacy %v: got %d, want %d: %s", legacy, status, want, answer)
				}
			}
		})
	}
}

// A client whose requests are refused again and again cannot fill the log.
func TestRefusedRequestsDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for n := range 500 {
			host, origin := fmt.Sprintf("evil%d.test", n), ""
			if n%2 == 1 {
				host, origin = "localhost", fmt.Sprintf("http://evil%d.test", n)
			}
			if status, _, _ := streamtest.Do(h, streamtest.Post("{}", "Host", host, "Origin", origin)); status != http.StatusForbidden {
				t.Fatalf("got %d, want 403", status)
			}
		}
		time.Sleep(time.Minute)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		var got []string
		for line := range strings.Lines(log.String()) {
			_, text, _ := strings.Cut(strings.TrimSpace(line), "level=")
			got = append(got, text)
		}
		slices.Sort(got)
		const host = `WARN msg="request refused" err="host \"evil%d.test\" is not allowed: `
		const origin = `WARN msg="request refused" err="origin \"http://evil%d.test\" is not allowed: `
		want := []string{fmt.Sprintf(host, 0), fmt.Sprintf(host, 498), fmt.Sprintf(origin, 1), fmt.Sprintf(origin, 499)}
		if !slices.EqualFunc(got, want, strings.HasPrefix) || strings.Count(log.String(), " left_out=248\n") != 2 {
			t.Errorf("got\n%s", log.String())
		}
	})
}

func TestCORS(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{AllowedOrigins: []string{"https://app.test"}})
	r := httptest.NewRequest(http.MethodOptions, "/mcp", nil)
	r.Header.Set("Origin", "https://app.test")
	r.Header.Set("Access-Control-Request-Method", "POST")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "https://app.test" {
		t.Errorf("preflight: got %d, %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, streamtest.Post(streamtest.Body("1", "resources/list", ""), "Origin", "https://app.test"))
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "https://app.test" || w.Header().Get("Vary") != "Origin" {
		t.Errorf("request: got %d, %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, streamtest.Post(streamtest.Body("1", "resources/list", ""), "Origin", "https://mcp.test", "Host", "mcp.test"))
	if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("same origin: got %d, %v", w.Code, w.Header())
	}
}
