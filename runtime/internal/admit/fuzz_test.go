package admit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
)

// FuzzCheck looks for modules that cost too much to check, or that are admitted and do not compile. What may cross the
// boundary does not matter to that, so most of it is tried without.
func FuzzCheck(f *testing.F) {
	for i, seed := range seeds(f) {
		if testing.Short() && i%10 != 0 {
			continue
		}
		f.Add(seed)
	}
	e := newEngine(f)
	f.Fuzz(func(t *testing.T, binary []byte) {
		took, allocated, err := measure(binary, admit.Config{})
		if took > 2*time.Second || allocated > 1<<20+64*uint64(len(binary)) {
			t.Fatalf("%d bytes: took %v and %d bytes", len(binary), took, allocated)
		}
		report, strict := admit.Check(binary, admit.Config{Imports: offered})
		if err != nil {
			if code := abi.CodeOf(err); code != abi.CodeModule && code != abi.CodeMemory {
				t.Fatalf("got code %v: %v", code, err)
			}
			if strict == nil {
				t.Fatalf("admitted with the boundary, without it %v", err)
			}
			return
		}
		open, err := admit.Validate(binary, admit.Config{})
		if strict == nil {
			if diff := cmp.Diff(report, open); diff != "" || err != nil {
				t.Fatalf("another report without the boundary: %v\n%s", err, diff)
			}
		}
		if open.Peaks.Cost > 20*time.Millisecond {
			return
		}
		err = e.compile(withoutCustom(binary))
		if err != nil && (strict == nil || !strings.Contains(err.Error(), "empty module name")) { // see engineExceptions
			t.Fatalf("admitted, but the engine: %v", err)
		}
	})
}

// seeds are small modules of all sorts.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	all := [][]byte{everything(), withCode([]byte{1}), []byte(header)}
	files, err := filepath.Glob("../../../testdata/wasm/*.wasm")
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules in testdata: %v", err)
	}
	for _, file := range files {
		binary, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, binary)
	}
	for _, bomb := range bombs() {
		all = append(all, bomb)
	}
	for i, m := range specModules(t) {
		if i%13 == 0 && len(m.binary) < 400 {
			all = append(all, m.binary)
		}
	}
	return all
}
