package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/runtime"
)

// Providers of one Host may have different engines, whatever that of the Host is.
func TestProvidersOfOneHostHaveTheirOwnEngines(t *testing.T) {
	for _, isolation := range []runtime.Isolation{runtime.IsolateDefault, runtime.IsolateNone} {
		t.Run(isolation.String(), func(t *testing.T) {
			h := newHost(t, isolation)
			for _, name := range append(runtime.Engines(), runtime.Engines()...) {
				p, err := h.Load(t.Context(), greeting, &runtime.Options{Engine: name})
				if err != nil {
					t.Fatal(name, err)
				}
				t.Cleanup(func() {
					if err := p.Close(); err != nil {
						t.Error(err)
					}
				})
				contents, err := p.Read(t.Context(), "greeting://Ada")
				if err != nil || contents[0].Text() != "Hello, Ada!" {
					t.Errorf("%s: got %v, %v", name, contents, err)
				}
			}
			file := greetingFile(t)
			prepared, err := h.Prepare(t.Context(), file, &runtime.Options{Engine: runtime.Engines()[len(runtime.Engines())-1]})
			if err != nil {
				t.Fatal(err)
			}
			if err := prepared.Compile(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnUnknownEngineOfAProviderIsRefused(t *testing.T) {
	h := newHost(t, runtime.IsolateDefault)
	_, err := h.Load(t.Context(), greeting, &runtime.Options{Engine: "v8"})
	if err == nil || !strings.Contains(err.Error(), "there are wazero and wasmtime") {
		t.Errorf("got %v", err)
	}
	if _, err := h.Prepare(t.Context(), greetingFile(t), &runtime.Options{Engine: "v8"}); err == nil {
		t.Error("prepared for an unknown engine")
	}
}

// greetingFile returns a file with the module greeting.
func greetingFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "greeting.wasm")
	if err := os.WriteFile(file, greeting, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCallsAreComparedOnBothEngines(t *testing.T) {
	for _, isolation := range []runtime.Isolation{runtime.IsolateDefault, runtime.IsolateNone} {
		t.Run(isolation.String(), func(t *testing.T) {
			h, compared := newHost(t, isolation), 0
			p, err := h.Load(t.Context(), greeting, &runtime.Options{Compare: &runtime.Compare{Wait: true, OnCompared: func(c *runtime.Compared) {
				compared++
				if c.Failed != nil || len(c.Differences) > 0 {
					t.Errorf("got %+v", c)
				}
			}}})
			if len(runtime.Engines()) == 1 {
				if err == nil || !strings.Contains(err.Error(), "build with CGO_ENABLED=1 -tags wasmtime") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if _, err := p.Read(t.Context(), "greeting://Ada"); err != nil || compared != 1 {
				t.Errorf("got %v, compared %d times", err, compared)
			}
		})
	}
}
