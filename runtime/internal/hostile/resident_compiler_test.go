//go:build linux

package hostile_test

import (
	"path/filepath"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/attack"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// mayCompile is how much resident memory the process takes that compiles a module of the corpus. Its limit is far above.
const mayCompile = 128 << 20

// TestLoadingTakesNoMoreThanItMay loads, as a server does, the modules of which the attack is to be admitted and compiled.
// It looks at the most resident memory that this process and the one that compiles have had. How the attacks end is
// judged elsewhere.
func TestLoadingTakesNoMoreThanItMay(t *testing.T) {
	alone(t)
	c, err := compiler.New(compiler.Config{Engine: enginetest.Kind().InWorker(), CacheDir: filepath.Join(t.TempDir(), "cache")})
	if err != nil {
		t.Fatal(err)
	}
	run, err := worker.New(worker.Config{NativeCode: worker.NativeCode{Engine: enginetest.Kind().InWorker(), Compile: c.FolderOf, Invalidate: c.Invalidate}})
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range hostile.Cases() {
		if !isForLoading(each) || !wanted(each) {
			continue
		}
		t.Run(each.Name, func(t *testing.T) {
			modules := modulesOf(each)
			others, before := largestChild(), count().resident
			resetPeak()
			size, codes := 0, map[string]int{}
			for _, m := range modules {
				size = max(size, len(m))
				loadOnce(t, provider.Config{Runner: run, Limits: attack.LimitsOf(each)}, m, codes)
			}
			parent, child := peak()-before, largestChild()
			if most := slow(processPeak + 8*int64(size)); parent > most {
				t.Errorf("%s: the parent took %d MiB, at most %d MiB are allowed (%s)", each.Row, parent>>20, most>>20, each.Why)
			}
			if most := slow[int64](mayCompile); child > others && child > most {
				t.Errorf("%s: a child took %d MiB, at most %d MiB are allowed (%s)", each.Row, child>>20, most>>20, each.Why)
			}
			t.Logf("the parent took %.1f MiB, the largest child until now %d MiB, %v", float64(parent)/(1<<20), child>>20, codes)
		})
	}
}

// isForLoading says whether a case attacks what admits and compiles modules.
func isForLoading(c hostile.Case) bool {
	return c.LoadOnly() || c.Row == hostile.RowCompile || c.Row == hostile.RowCounts
}

// loadOnce loads a module, closes it, and counts how that ended.
func loadOnce(t *testing.T, cfg provider.Config, module []byte, codes map[string]int) {
	t.Helper()
	m, err := provider.Open(t.Context(), cfg, module)
	codes[abi.CodeOf(err).String()]++
	if err != nil {
		return
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
