package admit_test

import (
	"os"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/admit"
)

func benchmarkCheck(b *testing.B, binary []byte, admitted bool) {
	b.Helper()
	cfg := admit.Config{Imports: hostFunctions()}
	b.SetBytes(int64(len(binary)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := admit.Check(binary, cfg); (err == nil) != admitted {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckGo(b *testing.B) { benchmarkCheck(b, guesttest.Binary(b, "hello"), true) }

func BenchmarkCheckSmall(b *testing.B) {
	binary, err := os.ReadFile("../../../testdata/wasm/faults.wasm")
	if err != nil {
		b.Fatal(err)
	}
	benchmarkCheck(b, binary, true)
}

// BenchmarkCheckHostile has the shapes that are made to be expensive.
func BenchmarkCheckHostile(b *testing.B) {
	for name, shape := range shapes(1<<20 - 16) {
		b.Run(name, func(b *testing.B) { benchmarkCheck(b, shape, name[0] == 'a') })
	}
}
