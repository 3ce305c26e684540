package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// Tenants host the modules that attack their host, each with some of its attacks. Each request is answered, and a tenant beside them is
// served all the while, within the same slots.
func TestHostileModulesAreHosted(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for deadlines")
	}
	modules, err := filepath.Glob(filepath.Join(sourcetree.Root(), "runtime", "internal", "hostile", "modules", "*.wasm"))
	if err != nil || len(modules) < 9 {
		t.Fatalf("got %q, %v", modules, err)
	}
	manifest := (&abi.Manifest{
		Name: "evil", Version: "1", Ops: 1<<abi.OpRead | 1<<abi.OpList, Resources: []abi.Resource{{URI: "x:o", Name: "o"}},
	}).Append(nil)
	section := append([]byte{16}, "wasmres.manifest"...)
	section = append(section, manifest...)
	tenants := map[string]string{"good": fmt.Sprintf("plan: light\nproviders: {p: {module: %q}}\n", guesttest.Computing(t))}
	dir := t.TempDir()
	for _, module := range modules {
		text, err := os.ReadFile(module)
		if err != nil || len(section) > 127 {
			t.Fatal(len(section), err)
		}
		name := filepath.Base(module)
		file := filepath.Join(dir, name)
		write(t, file, string(append(append(text, 0, byte(len(section))), section...)))
		tenants[strings.TrimSuffix(name, ".wasm")] = fmt.Sprintf(
			"plan: light\nproviders: {p: {module: %q, permissions: {resources: {limits: {timeout: 100ms, memory: 16Mi}}}}}\n", file)
	}
	h := hostFair(t, tenants)
	h.compute("good", 1)
	var attacking sync.WaitGroup
	for id := range tenants {
		if id == "good" {
			continue
		}
		attacking.Go(func() {
			for _, letter := range "oaceglnw" {
				for _, r := range []request{
					{method: "resources/read", uri: "x:" + string(letter)}, {uri: "x:" + string(letter)}, {method: "resources/list"},
				} {
					r.tenant = id
					if got := h.do(r); got.status < 200 || got.status > 599 || got.body == "" && got.status != 200 {
						t.Errorf("%s of %s: got %d %q", r.uri, id, got.status, got.body)
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { attacking.Wait(); close(ended) }()
	served := 0
	for isOver := false; !isOver; {
		if a := h.compute("good", 1); a.isResult() {
			served++
		} else {
			t.Errorf("the tenant beside got %d %s", a.status, a.body)
		}
		select {
		case <-ended:
			isOver = true
		default:
		}
	}
	if served < 10 {
		t.Errorf("the tenant beside was served %d times", served)
	}
	if log := h.log.String(); len(log) > 1<<20 || strings.Contains(log, "panic") {
		t.Errorf("the log has %d bytes: %.2000s", len(log), log)
	}
}
