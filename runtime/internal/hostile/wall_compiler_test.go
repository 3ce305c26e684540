//go:build linux

package hostile_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/compiler"
	"github.com/wasmres/wasmres/runtime/internal/engine/enginetest"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
)

// A compiler's process holds alone, too: what is not admitted may take the time it has, and no more of anything.
func TestTheCompilerIsStoppedAlone(t *testing.T) {
	alone(t)
	const limit = 500 * time.Millisecond
	c, patient := compilerWithin(t, limit), compilerWithin(t, processLoad)
	compileInTime(c, []byte("\x00asm\x01\x00\x00\x00"), limit, map[string]int{}) // what is made once is there from then on
	before := count()
	for _, each := range hostile.Cases() {
		if each.Row != hostile.RowCompile && each.Row != hostile.RowCounts || !wanted(each) {
			continue
		}
		t.Run(each.Name, func(t *testing.T) {
			all := tally{cases: 1, codes: map[string]int{}}
			for _, m := range each.Modules() {
				all.modules++
				if len(m) > processLarge {
					all.late = max(all.late, compileInTime(patient, m, processLoad, all.codes))
					continue
				}
				all.late = max(all.late, compileInTime(c, m, limit, all.codes))
			}
			t.Log(&all)
			if all.late > processLate {
				t.Errorf("got an end %v late, at most %v are allowed (%s)", all.late, processLate, each.Why)
			}
		})
	}
	now := settled(before)
	t.Logf("before: %v; after: %v; the largest child had %d MiB", before, now, largestChild()>>20)
	if now.goroutines > before.goroutines || now.files > before.files || now.children > before.children || now.resident > before.resident+processGrowth {
		t.Errorf("the parent: got %v, want what there was before: %v", now, before)
	}
}

// compilerWithin makes a compiler with a limit of time and a cache of its own.
func compilerWithin(t *testing.T, limit time.Duration) *compiler.Compiler {
	t.Helper()
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c, err := compiler.New(compiler.Config{Engine: enginetest.Kind().InWorker(), CacheDir: filepath.Join(dir, "cache"), Timeout: limit, CPU: limit, Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compileInTime compiles, and again if that was late.
func compileInTime(c *compiler.Compiler, module []byte, limit time.Duration, codes map[string]int) (late time.Duration) {
	for range processTries {
		start := time.Now()
		_, err := c.Entry(context.Background(), module)
		late = max(0, time.Since(start)-limit)
		codes[abi.CodeOf(err).String()]++
		if late <= processLate {
			break
		}
	}
	return late
}
