package provider_test

import (
	"bufio"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A gathering blocks each call until all have arrived, so that each has its own instance.
type gathering struct {
	discard
	all *sync.WaitGroup
}

func (g *gathering) Content(*abi.Content) error {
	g.all.Done()
	g.all.Wait()
	return nil
}

// BenchmarkIdleInstance reports the memory of an instance after a call and a reset: its private pages, and what the engine
// and the host hold for it.
func BenchmarkIdleInstance(b *testing.B) {
	for _, bb := range []struct {
		name   string
		binary func() []byte
		uri    string
	}{
		{"wat", func() []byte { return readModule(b, "faults.wasm") }, "x:o"},
		{"go", func() []byte { return guesttest.Binary(b, "hello") }, "hello://about"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			const instances = 200
			m, err := provider.Open(b.Context(), provider.Config{
				Runner: pool.InProcess{Engine: cachedEngine(b)}, Limits: limits.Limits{Calls: instances},
			}, bb.binary())
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			before := proportional(b)
			for b.Loop() {
				var all, done sync.WaitGroup
				all.Add(instances)
				for range instances {
					done.Go(func() {
						if _, err := m.Call(b.Context(), abi.OpRead, &abi.Request{URI: bb.uri}, &gathering{all: &all}); err != nil {
							b.Error(err)
						}
					})
				}
				done.Wait()
				m.AfterResponse()
			}
			b.ReportMetric(float64(proportional(b)-before)/instances, "KiB/instance")
		})
	}
}

// proportional is the process's proportional set size in KiB.
func proportional(b *testing.B) (size int) {
	b.Helper()
	goruntime.GC()
	file, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		b.Skip(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			fmt.Sscan(rest, &size)
		}
	}
	return size
}
