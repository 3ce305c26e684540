package provider_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// cachedEngine has compiled modules, so that tests need not compile large guests: with the race detector that takes most of
// a minute.
func cachedEngine(tb testing.TB) engine.Engine {
	e, err := enginetest.Kind().Open(engine.Config{CacheDir: guesttest.CacheDir(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// BenchmarkCleanCall is one read in a fresh instance, including its reset, with all limits.
func BenchmarkCleanCall(b *testing.B) {
	for _, bb := range []struct {
		name   string
		binary func() []byte
		req    abi.Request
	}{
		{"wat-text", func() []byte { return readModule(b, "faults.wasm") }, abi.Request{URI: "x:o"}},
		{"go-text", func() []byte { return guesttest.Binary(b, "hello") }, abi.Request{URI: "hello://about"}},
		{"go-template", func() []byte { return guesttest.Binary(b, "hello") }, abi.Request{
			URI: "greeting://World", Route: 1, Vars: []abi.Var{{Name: "name", Value: "World"}},
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			m, err := provider.Open(b.Context(), provider.Config{Runner: pool.InProcess{Engine: cachedEngine(b)}}, bb.binary())
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Call(b.Context(), abi.OpRead, &bb.req, discard{}); err != nil {
					b.Fatal(err)
				}
				m.AfterResponse()
			}
		})
	}
}
