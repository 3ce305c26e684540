package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/engine/engines"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
)

// A place is an engine, and where it runs its guests.
type place struct {
	name     string
	provider *provider.Provider
	took     []float64 // nanoseconds of processor time for a read, one for each round
}

// BenchmarkEngines compares the engines of this program, in this process and in workers: the processor time of a read with its reset, in
// all processes, of rounds that take turns. It reads from the Go guest hello and from guests that compute much, or what
// WASMRES_BENCH has, as FILE=URI, which may be several, separated by spaces. WASMRES_BENCH_ROUNDS bounds the rounds. Each round takes
// 20 ms at least.
func BenchmarkEngines(b *testing.B) {
	rounds, err := strconv.Atoi(os.Getenv("WASMRES_BENCH_ROUNDS"))
	if err != nil {
		rounds = 51
	}
	if text := os.Getenv("WASMRES_BENCH"); text != "" {
		for _, one := range strings.Fields(text) {
			file, uri, _ := strings.Cut(one, "=")
			benchEngines(b, uri, rounds, func(testing.TB) string { return file })
		}
		return
	}
	benchEngines(b, "hello://about", rounds, func(tb testing.TB) string { return guesttest.File(tb, "hello") })
	for _, one := range []struct {
		uri      string
		language project.Language
	}{{"heavy://markdown", project.Rust}, {"heavy://valid", project.Go}, {"heavy://recode", project.Go}, {"heavy://objects", project.JavaScript}} {
		benchEngines(b, one.uri, rounds, func(tb testing.TB) string { return guesttest.Heavy(tb, one.language) })
	}
}

// benchEngines compares the reads of one URI.
func benchEngines(b *testing.B, uri string, rounds int, build func(testing.TB) string) {
	b.Run(uri, func(b *testing.B) {
		binary, err := os.ReadFile(build(b))
		if err != nil {
			b.Fatal(err)
		}
		var places []*place
		for _, kind := range engines.All() {
			places = append(places,
				&place{name: string(kind), provider: openOn(b, inProcess(b, kind), binary)},
				&place{name: string(kind) + "-worker", provider: openOn(b, workersOn(b, kind.InWorker(), nil), binary)},
			)
		}
		for range rounds {
			for _, p := range places {
				p.took = append(p.took, cpuOfRead(b, p.provider, uri))
			}
		}
		b.ReportMetric(0, "ns/op")
		for _, p := range places {
			slices.Sort(p.took)
			b.ReportMetric(p.took[0]/1e3, p.name+"-best-µs")
			b.ReportMetric(p.took[len(p.took)/2]/1e3, p.name+"-median-µs")
		}
	})
}

// inProcess runs guests on an engine in this process.
func inProcess(b *testing.B, kind engines.Kind) guest.Runner {
	b.Helper()
	e, err := kind.Open(engine.Config{CacheDir: guesttest.CacheDir(b)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	return pool.InProcess{Engine: e}
}

// openOn opens a module with limits that are not in the way.
func openOn(b *testing.B, run guest.Runner, binary []byte) *provider.Provider {
	b.Helper()
	p, err := provider.Open(b.Context(), provider.Config{
		Runner: run,
		Limits: limits.Limits{Memory: 512 << 20, Fuel: 1 << 50, Timeout: 10 * time.Minute, Output: 64 << 20},
	}, binary)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
	return p
}

// cpuOfRead returns the nanoseconds of processor time that a read takes in this process and its children, on average of one round.
func cpuOfRead(b *testing.B, p *provider.Provider, uri string) float64 {
	b.Helper()
	before := childrenTime(b) + cpuTime(b) // in this order, so that looking at children is not measured
	n := 0
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; n++ {
		if _, err := p.Call(b.Context(), abi.OpRead, &abi.Request{URI: uri}, discard{}); err != nil {
			b.Fatal(err)
		}
		p.AfterResponse()
	}
	after := cpuTime(b)
	return float64(after+childrenTime(b)-before) / float64(n)
}

// cpuTime returns the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// childrenTime returns the processor time of the children of this process that run now.
func childrenTime(b *testing.B) (all time.Duration) {
	b.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		b.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		for _, child := range strings.Fields(string(text)) {
			all += threadTime(child)
		}
	}
	return all
}

// threadTime returns the processor time of the threads of a process.
func threadTime(pid string) (all time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%s/task/*/schedstat", pid)) // the pattern is valid
	for _, file := range files {
		var ran int64
		if text, err := os.ReadFile(file); err == nil { // the thread may have ended
			_, _ = fmt.Sscan(string(text), &ran)
		}
		all += time.Duration(ran)
	}
	return all
}
