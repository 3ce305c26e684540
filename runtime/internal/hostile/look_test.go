package hostile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// TestGuestsPayForWhatTheHostLooksAt compares the fuel of reads in which a host function gets some and next to no bytes.
func TestGuestsPayForWhatTheHostLooksAt(t *testing.T) {
	e, err := enginetest.Kind().Open(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	used := func(function string, n int64) (fuel uint64) {
		t.Helper()
		m, err := provider.Open(t.Context(), provider.Config{
			Runner: pool.InProcess{Engine: e}, Limits: limits.Limits{Timeout: time.Minute},
			OnCall: func(_ context.Context, u limits.Usage) { fuel = u.Fuel },
		}, hostile.Look(function, 1, n, false))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		req := &abi.Request{URI: "x:a", Vars: []abi.Var{{Name: "v", Value: strings.Repeat("v", 60<<10)}}}
		_, _ = m.Call(t.Context(), abi.OpRead, req, sink{}) // most of what is said makes no sense
		return fuel
	}
	for _, function := range hostile.Looks() {
		n := int64(60 << 10)
		if function == "poll_oneoff" {
			n = 64 * 48
		}
		little, much := used(function, 48), used(function, n)
		if got, want := int64(much-little), (n-48)/4; got < want {
			t.Errorf("%s: %d bytes cost %d more than 48, want at least %d", function, n, got, want)
		}
	}
}
