package host_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// TestTheImagesOfATenantGoWithIt looks for what guests have had in memory in the cache.
func TestTheImagesOfATenantGoWithIt(t *testing.T) {
	dir := t.TempDir()
	s := serveOn(t, host.Config{}, runtime.HostConfig{CacheDir: dir, Isolation: runtime.IsolateProcess})
	faults, err := filepath.Abs("../../testdata/wasm/faults.wasm")
	if err != nil {
		t.Fatal(err)
	}
	images := func(want int) {
		t.Helper()
		for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			found, err := filepath.Glob(filepath.Join(dir, "*.image"))
			if err == nil && len(found) == want {
				return
			}
			if err != nil || time.Now().After(until) {
				t.Fatalf("there are %d images, want %d: %v", len(found), want, err)
			}
		}
	}
	a, b, c := with("a", faults), with("b", faults), with("c", faults)
	s.Update(snapshot(a, b, c))
	for _, id := range []string{"a", "b", "c"} {
		if status, text := s.read("/t/"+id+"/mcp", id, "x:o"); status != 200 {
			t.Errorf("%s: got %d %s", id, status, text)
		}
	}
	images(3)
	off := *b
	off.Disabled = true
	s.Update(snapshot(a, &off, c))
	images(2)
	s.Update(snapshot(a, &off))
	images(1)
	var none []*tenant.Tenant
	s.Update(snapshot(none...))
	images(0)
}
