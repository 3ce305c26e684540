package hostile_test

import (
	"errors"
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

// The compiled form of a module is shared by all who load it, so nothing of their limits may be in it.
func TestALoadDoesNotInheritTheLimitsOfAnother(t *testing.T) {
	e, err := enginetest.Kind().Open(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	load := func(l limits.Limits) *provider.Provider {
		t.Helper()
		m, err := provider.Open(t.Context(), provider.Config{Runner: pool.InProcess{Engine: e}, Limits: l}, memoryModule(t))
		if err != nil {
			t.Fatal(err, errors.Unwrap(err))
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	ask := func(m *provider.Provider, uri string) abi.Code {
		_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: uri}, sink{})
		return abi.CodeOf(err)
	}
	// x:k needs three pages of memory, x:c takes time.
	large := load(limits.Limits{Memory: 64 << 20, Timeout: 10 * time.Second})
	small := load(limits.Limits{Memory: 2 << 16, Timeout: 10 * time.Second})
	quick := load(limits.Limits{Memory: 64 << 20, Timeout: 20 * time.Millisecond})
	for range 2 {
		if got := ask(large, "x:k"); got != abi.CodeOK {
			t.Errorf("64 MiB: got %v, want ok", got)
		}
		if got := ask(small, "x:k"); got == abi.CodeOK {
			t.Errorf("two pages: got %v, want a failure", got)
		}
		start := time.Now()
		if got := ask(quick, "x:c"); got == abi.CodeOK || time.Since(start) > 2*time.Second {
			t.Errorf("20ms: got %v after %v", got, time.Since(start))
		}
	}
}

// memoryModule is the module of the case that grows memory under the host's hands.
func memoryModule(t *testing.T) []byte {
	t.Helper()
	for _, c := range hostile.Cases() {
		if c.Name == "grow-host" {
			return c.Modules()[0]
		}
	}
	t.Fatal("there is no case grow-host")
	return nil
}

// A sink takes everything and keeps nothing.
type sink struct{}

func (sink) Content(*abi.Content) error { return nil }
func (sink) Body([]byte) error          { return nil }
func (sink) Progress(abi.Progress)      {}
