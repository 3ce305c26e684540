package provider_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
)

// BenchmarkEngines compares the engines of this program: the processor time of a read with its reset, of rounds that take turns, for
// the Go guest hello or for what WASMRES_BENCH has, as FILE=URI, which may be several, separated by spaces. WASMRES_BENCH_ROUNDS
// bounds the rounds. Each round takes 20 ms at least.
func BenchmarkEngines(b *testing.B) {
	reads := [][2]string{{guesttest.File(b, "hello"), "hello://about"}}
	if text := os.Getenv("WASMRES_BENCH"); text != "" {
		reads = nil
		for _, one := range strings.Fields(text) {
			file, uri, _ := strings.Cut(one, "=")
			reads = append(reads, [2]string{file, uri})
		}
	}
	rounds, err := strconv.Atoi(os.Getenv("WASMRES_BENCH_ROUNDS"))
	if err != nil {
		rounds = 51
	}
	for _, read := range reads {
		b.Run(read[1], func(b *testing.B) {
			binary, err := os.ReadFile(read[0])
			if err != nil {
				b.Fatal(err)
			}
			var open []*provider.Provider
			for _, kind := range engines.All() {
				open = append(open, openOn(b, kind, binary))
			}
			took := make([][]float64, len(open))
			for range rounds {
				for i, p := range open {
					took[i] = append(took[i], cpuOfRead(b, p, read[1]))
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, kind := range engines.All() {
				slices.Sort(took[i])
				b.ReportMetric(took[i][0]/1e3, string(kind)+"-best-µs")
				b.ReportMetric(took[i][len(took[i])/2]/1e3, string(kind)+"-median-µs")
			}
		})
	}
}

// openOn opens a module on an engine, with limits that are not in the way.
func openOn(b *testing.B, kind engines.Kind, binary []byte) *provider.Provider {
	b.Helper()
	e, err := kind.Open(engine.Config{CacheDir: guesttest.CacheDir(b)})
	if err != nil {
		b.Fatal(err)
	}
	p, err := provider.Open(b.Context(), provider.Config{
		Runner: pool.InProcess{Engine: e},
		Limits: limits.Limits{Memory: 512 << 20, Fuel: 1 << 50, Timeout: 10 * time.Minute, Output: 64 << 20},
	}, binary)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	return p
}

// cpuOfRead returns the nanoseconds of processor time that a read takes in this process, on average of one round.
func cpuOfRead(b *testing.B, p *provider.Provider, uri string) float64 {
	began, n := cpuTime(b), 0
	for cpuTime(b)-began < 20*time.Millisecond {
		for range 1 + min(100, n*10) {
			if _, err := p.Call(b.Context(), abi.OpRead, &abi.Request{URI: uri}, discard{}); err != nil {
				b.Fatal(err)
			}
			p.AfterResponse()
			n++
		}
	}
	return float64(cpuTime(b)-began) / float64(n)
}

func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
