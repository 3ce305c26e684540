package module_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/instance"
	"github.com/wasmres/wasmres/runtime/internal/module"
)

func FuzzDecode(f *testing.F) {
	for _, file := range []string{"faults.wasm", "reset.wasm", "visits.wasm"} {
		binary, err := os.ReadFile("../../../testdata/wasm/" + file)
		if err != nil {
			f.Fatal(err)
		}
		p, err := module.Instrument(&module.Config{Pages: 1024, Table: 10_000, Imports: instance.Imports()}, binary)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := module.Decode(b)
		if err != nil {
			return
		}
		once := p.Append(nil)
		again, err := module.Decode(once)
		if err != nil {
			t.Fatalf("what was decoded does not decode again: %v", err)
		}
		if twice := again.Append(nil); !bytes.Equal(once, twice) {
			t.Errorf("got %q, want %q", twice, once)
		}
	})
}
