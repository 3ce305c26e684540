package sqlitekv_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/pool"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/kvcap"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// text is a sink for one text.
type text struct{ strings.Builder }

func (*text) Content(*abi.Content) error { return nil }
func (*text) Progress(abi.Progress)      {}

func (t *text) Body(p []byte) error {
	_, err := t.Write(p)
	return err
}

// memory runs the example memory with the store of a directory.
func memory(t *testing.T, dir string) *provider.Provider {
	t.Helper()
	engine, err := wazero.Open(wazero.Config{CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	kv := kvcap.Open(open(t, dir, kvcap.Quota{}, nil), kvcap.Grant{}, nil)
	services := kv.Services()
	services[abi.ServiceConfig] = capability.Config{"count_lookups": "true"}
	p, err := provider.Open(t.Context(), provider.Config{
		Runner: pool.InProcess{Engine: engine}, Services: services, ModuleCache: guesttest.Modules,
	}, guesttest.Binary(t, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func read(t *testing.T, p *provider.Provider, uri string) string {
	var got text
	_, err := p.Read(t.Context(), &resource.Request{URI: abi.MustParseURI(uri)}, &got)
	if err != nil {
		t.Errorf("%s: %v", uri, err)
	}
	return got.String()
}

func TestAGuestRemembers(t *testing.T) {
	dir := private(t)
	one, two := memory(t, dir), memory(t, dir) // as in two processes
	const each = 10
	var running sync.WaitGroup
	for _, p := range []*provider.Provider{one, two} {
		for range 2 {
			running.Go(func() {
				for range each {
					read(t, p, "memory://word/resource")
				}
			})
		}
	}
	running.Wait()
	if got := read(t, two, "memory://context/lookups"); got != "40\n" {
		t.Errorf("40 lookups are remembered as %q", got)
	}
	page, err := one.List(t.Context(), &resource.Request{})
	if err != nil || len(page.Resources) != 5 {
		t.Errorf("listed %+v, %v", page, err)
	}
	third := memory(t, dir)
	if got := read(t, third, "memory://context/recent"); got != "resource\n" {
		t.Errorf("got %q", got)
	}
}
