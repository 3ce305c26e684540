package inspect

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// producersOf encodes fields of a producers section: a name, and the names and versions it has.
func producersOf(fields ...[]string) []byte {
	section := wasm.AppendU32(nil, uint32(len(fields)))
	for _, f := range fields {
		section = wasm.AppendU32(wasm.AppendName(section, f[0]), uint32(len(f)/2))
		for _, text := range f[1:] {
			section = wasm.AppendName(section, text)
		}
	}
	return section
}

func TestParseProducers(t *testing.T) {
	two := producersOf([]string{"language", "Rust", ""}, []string{"processed-by", "rustc", "1.90.0", "wasm-opt", "124"})
	many := []string{"processed-by"}
	for range 100 {
		many = append(many, "tool", "1")
	}
	for name, tt := range map[string]struct {
		section []byte
		want    []producer
	}{
		"none":  {nil, nil},
		"empty": {producersOf(), nil},
		"two": {two, []producer{
			{"language", "Rust", ""}, {"processed-by", "rustc", "1.90.0"}, {"processed-by", "wasm-opt", "124"},
		}},
		"cut off":           {two[:len(two)-1], []producer{{"language", "Rust", ""}, {"processed-by", "rustc", "1.90.0"}}},
		"a count too large": {[]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, nil},
		"cannot be shown": {
			producersOf([]string{"language", "G\x1bo\u202e", "1\n2"}),
			[]producer{{"language", `G\x1bo\u202e`, "1 2"}},
		},
		"long": {
			producersOf([]string{"language", strings.Repeat("ö", 1000), ""}),
			[]producer{{"language", strings.Repeat("ö", maxProducerText-1) + "…", ""}},
		},
		"too many": {producersOf(many), slices.Repeat([]producer{{"processed-by", "tool", "1"}}, maxProducers)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parseProducers(tt.section)); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestProducerLeavesItsNameOutOfTheVersion(t *testing.T) {
	for want, p := range map[string]producer{
		"Go 1.26.8":     {"language", "Go", "go1.26.8"},
		"Go cmd go1.26": {"processed-by", "Go cmd", "go1.26"},
		"C11":           {"language", "C11", ""},
		"Go go":         {"language", "Go", "go"},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzParseProducers(f *testing.F) {
	f.Add(producersOf([]string{"language", "Go", "go1.26"}, []string{"processed-by", "tool", "1"}))
	f.Add([]byte{1, 1, 'x', 0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	f.Fuzz(func(t *testing.T, section []byte) {
		all := parseProducers(section)
		if len(all) > maxProducers {
			t.Errorf("got %d, at most %d", len(all), maxProducers)
		}
		for _, p := range all {
			for _, text := range []string{p.Field, p.Name, p.Version} {
				if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxProducerText || text != printable.Line(text) {
					t.Errorf("got %q", text)
				}
			}
		}
	})
}
