package engines_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "wazero": "", "wasmtime": "build with CGO_ENABLED=1 -tags wasmtime", "v8": "there are wazero and wasmtime",
	} {
		if name == "wasmtime" && slices.Contains(engines.All(), engines.Wasmtime) {
			want = ""
		}
		kind, err := engines.Parse(name)
		if want == "" && (err != nil || !strings.Contains(kind.String(), "v")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, %v, want %q", name, kind, err, want)
		}
	}
}

func TestTheDefaultIsWazero(t *testing.T) {
	for _, name := range []string{"", "wazero"} {
		if kind, err := engines.Parse(name); err != nil || !kind.IsDefault() {
			t.Errorf("%q: got %v, %v", name, kind, err)
		}
	}
	if engines.Wasmtime.IsDefault() || engines.All()[0] != engines.Wazero {
		t.Error("another engine is the default")
	}
}
