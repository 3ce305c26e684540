package compress_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/compress"
)

func TestChoose(t *testing.T) {
	tests := []struct {
		name   string
		accept []string
		want   compress.Coding
	}{
		{"no header", nil, compress.Identity},
		{"empty header", []string{""}, compress.Identity},
		{"gzip", []string{"gzip"}, compress.Gzip},
		{"old name, upper case", []string{"X-GZIP"}, compress.Gzip},
		{"zstd", []string{"zstd"}, compress.Zstd},
		{"browser", []string{"gzip, deflate, br, zstd"}, compress.Zstd},
		{"Go", []string{"gzip"}, compress.Gzip},
		{"two headers", []string{"br", "gzip"}, compress.Gzip},
		{"unknown ones", []string{"br, deflate"}, compress.Identity},
		{"anything", []string{"*"}, compress.Zstd},
		{"anything but zstd", []string{"*, zstd;q=0"}, compress.Gzip},
		{"nothing but gzip", []string{"*;q=0, gzip"}, compress.Gzip},
		{"nothing", []string{"*;q=0"}, compress.Identity},
		{"by weight", []string{"zstd;q=0.5, gzip;q=0.501"}, compress.Gzip},
		{"equal weights", []string{"gzip;q=0.5,zstd;q=0.5"}, compress.Zstd},
		{"identity preferred", []string{"identity, gzip;q=0.5"}, compress.Identity},
		{"identity as good", []string{"identity, gzip"}, compress.Gzip},
		{"identity worse", []string{"identity;q=0.4, gzip;q=0.5"}, compress.Gzip},
		{"identity refused", []string{"identity;q=0, br"}, compress.Identity},
		{"gzip refused", []string{"gzip;q=0"}, compress.Identity},
		{"gzip refused in full", []string{"gzip;q=0.000"}, compress.Identity},
		{"spaces", []string{" gzip ;\tQ=0.3 ,, "}, compress.Gzip},
		{"named twice", []string{"gzip, gzip;q=0"}, compress.Identity},
		{"weight beyond one", []string{"gzip;q=1.001"}, compress.Identity},
		{"weight of four decimals", []string{"gzip;q=0.1234"}, compress.Identity},
		{"weight without a number", []string{"gzip;q="}, compress.Identity},
		{"weight of a sign", []string{"gzip;q=-1"}, compress.Identity},
		{"other parameter", []string{"gzip;level=9"}, compress.Identity},
		{"no name", []string{";q=1, gzip"}, compress.Identity},
		{"not a token", []string{"gz ip, gzip"}, compress.Identity},
		{"too many", []string{strings.Repeat("br,", 100) + "gzip"}, compress.Identity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := compress.Choose(tt.accept); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.accept, got, tt.want)
			}
		})
	}
}

var member = regexp.MustCompile("^([!#$%&'*+.^_`|~0-9A-Za-z-]+)([ \t]*;[ \t]*[qQ]=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?))?$")

// chooseSlowly is Choose by the grammar.
func chooseSlowly(header string) compress.Coding {
	weights := map[string]float64{}
	members := strings.Split(header, ",")
	if len(members) > 64 {
		return compress.Identity
	}
	for _, m := range members {
		m = strings.Trim(m, " \t")
		if m == "" {
			continue
		}
		parts := member.FindStringSubmatch(m)
		if parts == nil {
			return compress.Identity
		}
		name, weight := strings.ToLower(parts[1]), 1.0
		if parts[3] != "" {
			weight, _ = strconv.ParseFloat(parts[3], 64)
		}
		if name == "x-gzip" {
			name = "gzip"
		}
		if known, ok := weights[name]; !ok || weight < known {
			weights[name] = weight
		}
	}
	weigh := func(name string) float64 {
		if w, ok := weights[name]; ok {
			return w
		}
		return weights["*"]
	}
	zstd, gzip, identity := weigh("zstd"), weigh("gzip"), weights["identity"]
	switch {
	case zstd > 0 && zstd >= gzip && zstd >= identity:
		return compress.Zstd
	case gzip > 0 && gzip >= identity:
		return compress.Gzip
	}
	return compress.Identity
}

func FuzzChoose(f *testing.F) {
	for _, seed := range []string{
		"", "gzip", "gzip, deflate, br, zstd", "*;q=0.1,gzip;q=0", "identity;q=1.0, gzip ; q=0.999", "gzip;q=2", "a=b",
		"zstd;q=0.5;q=0.6", ",,,", "gzip;", "x-gzip;Q=1.", "\x00", "gzip;q=0.00\x31",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if got, want := compress.Choose([]string{header}), chooseSlowly(header); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
		if one, two, ok := strings.Cut(header, ","); ok {
			if got, want := compress.Choose([]string{one, two}), compress.Choose([]string{header}); got != want {
				t.Errorf("%q in two headers: got %q, want %q", header, got, want)
			}
		}
	})
}

func TestPays(t *testing.T) {
	const large = 1 << 20
	tests := []struct {
		mimeType string
		size     int
		want     bool
	}{
		{"text/plain", large, true}, {"text/plain", 16 << 10, true}, {"text/plain", 16<<10 - 1, false}, {"text/plain", 0, false},
		{"text/plain", -1, true}, {"Text/HTML; charset=utf-8", large, true}, {"application/json", large, true},
		{"application/vnd.api+json", large, true}, {"image/svg+xml", large, true}, {"application/wasm", large, true},
		{"image/png", large, false}, {"audio/ogg", large, false}, {"video/mp4", -1, false}, {"application/zip", large, false},
		{"application/gzip", large, false}, {"application/zstd", large, false}, {"application/pdf", large, false},
		{"font/woff2", large, false}, {"font/ttf", large, true}, {"application/octet-stream", large, false}, {"", large, false},
		{"nonsense", large, false},
	}
	for _, tt := range tests {
		if got := compress.Pays(tt.mimeType, tt.size); got != tt.want {
			t.Errorf("%q of %d bytes: got %v, want %v", tt.mimeType, tt.size, got, tt.want)
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	header := []string{"gzip, deflate, br, zstd"}
	b.ReportAllocs()
	for b.Loop() {
		compress.Choose(header)
	}
}
