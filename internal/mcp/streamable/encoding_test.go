package streamable

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/wasmres/wasmres/internal/compress"
)

func TestCoding(t *testing.T) {
	const large = 1 << 20
	tests := []struct {
		name   string
		from   net.Addr
		accept string
		kind   string
		size   int
		want   compress.Coding
	}{
		{"far away", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, "gzip, zstd", "application/json", large, compress.Zstd},
		{"far away, size not known", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, "gzip", "text/plain", -1, compress.Gzip},
		{"far away, small", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, "gzip", "application/json", 16<<10 - 1, compress.Identity},
		{"far away, a picture", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, "gzip", "image/png", large, compress.Identity},
		{"far away, not accepted", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, "", "application/json", large, compress.Identity},
		{"this machine", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, "gzip, zstd", "application/json", large, compress.Identity},
		{"not known where", nil, "gzip", "application/json", large, compress.Gzip},
	}
	h := &Handler{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, Path, nil)
			if tt.accept != "" {
				r.Header.Set("Accept-Encoding", tt.accept)
			}
			if tt.from != nil {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tt.from))
			}
			if got := h.coding(r, tt.kind, tt.size); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnnounce(t *testing.T) {
	for c, want := range map[compress.Coding]string{compress.Identity: "", compress.Gzip: "gzip", compress.Zstd: "zstd"} {
		header := http.Header{"Content-Length": {"3"}, "Vary": {"Origin"}}
		announce(header, c)
		if got := header.Get("Content-Encoding"); got != want || (header.Get("Content-Length") == "") != (want != "") {
			t.Errorf("got %v, want %q", header, want)
		}
		if vary := header.Values("Vary"); len(vary) != 2 || vary[1] != "Accept-Encoding" {
			t.Errorf("got Vary %q", vary)
		}
	}
}
