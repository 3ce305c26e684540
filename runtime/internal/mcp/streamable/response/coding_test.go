package response_test

import (
	"net/http"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/compress"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

func TestCoding(t *testing.T) {
	const large = 1 << 20
	tests := []struct {
		name   string
		local  bool
		accept []string
		kind   string
		size   int
		want   compress.Coding
	}{
		{"remote", false, []string{"gzip, zstd"}, "application/json", large, compress.Zstd},
		{"remote, unknown size", false, []string{"gzip"}, "text/plain", -1, compress.Gzip},
		{"remote, small", false, []string{"gzip"}, "application/json", 16<<10 - 1, compress.Identity},
		{"remote, picture", false, []string{"gzip"}, "image/png", large, compress.Identity},
		{"remote, not accepted", false, nil, "application/json", large, compress.Identity},
		{"local", true, []string{"gzip, zstd"}, "application/json", large, compress.Identity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := response.Coding(tt.local, tt.accept, tt.kind, tt.size); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSetCoding(t *testing.T) {
	for c, want := range map[compress.Coding]string{compress.Identity: "", compress.Gzip: "gzip", compress.Zstd: "zstd"} {
		header := http.Header{"Content-Length": {"3"}, "Vary": {"Origin"}}
		response.SetCoding(header, c)
		if got := header.Get("Content-Encoding"); got != want || (header.Get("Content-Length") == "") != (want != "") {
			t.Errorf("got %v, want %q", header, want)
		}
		if vary := header.Values("Vary"); len(vary) != 2 || vary[1] != "Accept-Encoding" {
			t.Errorf("got Vary %q", vary)
		}
	}
}
