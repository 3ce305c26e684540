package runtime_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime"
	_ "github.com/wasmres/wasmres/runtime/early" // as the program does
	"github.com/wasmres/wasmres/runtime/wasm"
)

// dense is how many providers BenchmarkHostDensity opens.
const dense = 200

// rested is how long nothing is called before memory is measured.
const rested = 3 * time.Second

// BenchmarkHostDensity reports the memory that many providers in Go, of as many digests and owners, take in this process and all its
// children, proportionally set: live, after 100 reads of each, and registered, when none is live.
func BenchmarkHostDensity(b *testing.B) {
	hello := guesttest.Binary(b, "hello")
	b.Run("live", func(b *testing.B) {
		for b.Loop() {
			before := memoryOfAll(b)
			closeAll := openMany(b, runtime.HostConfig{}, hello, func(all []*runtime.Provider) {
				for range 100 {
					readEach(b, all)
				}
			})
			reportMemory(b, before)
			closeAll()
		}
	})
	b.Run("registered", func(b *testing.B) {
		for b.Loop() {
			before := memoryOfAll(b)
			live := newLive(b)
			closeAll := openMany(b, runtime.HostConfig{Idle: time.Second, Live: live}, hello, func(all []*runtime.Provider) {
				readEach(b, all)
				awaitNoneLive(live)
			})
			reportMemory(b, before)
			closeAll()
		}
	})
}

func newLive(b *testing.B) *runtime.Live {
	b.Helper()
	live, err := runtime.NewLive(runtime.LiveConfig{})
	if err != nil {
		b.Fatal(err)
	}
	return live
}

func awaitNoneLive(live *runtime.Live) {
	for live.Stats().Live > 0 {
		<-time.After(10 * time.Millisecond)
	}
}

// openOn makes a host with the cache of all tests.
func openOn(b *testing.B, cfg runtime.HostConfig) *runtime.Host {
	b.Helper()
	cfg.CacheDir = guesttest.CacheDir(b)
	h, err := runtime.NewHost(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// openMany opens providers of one code and different digests and owners, from files, and has them used. The caller closes them.
func openMany(b *testing.B, cfg runtime.HostConfig, module []byte, use func([]*runtime.Provider)) (closeAll func()) {
	b.Helper()
	h, dir := openOn(b, cfg), b.TempDir()
	var all []*runtime.Provider
	for i := range dense {
		file := filepath.Join(dir, fmt.Sprintf("p%d.wasm", i))
		other, err := wasm.WithCustom(module, "number", fmt.Append(nil, i))
		if err = errors.Join(err, os.WriteFile(file, other, 0o600)); err != nil {
			b.Fatal(err)
		}
		owner := runtime.WithOwner(b.Context(), fmt.Sprintf("owner %d", i)) // owners do not share pages of native code
		p, err := h.Open(owner, file, &runtime.Options{Limits: runtime.Limits{Timeout: time.Minute}})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, p)
	}
	use(all)
	return func() {
		var errs []error
		for _, p := range all {
			errs = append(errs, p.Close())
		}
		if err := errors.Join(append(errs, h.Close())...); err != nil {
			b.Error(err)
		}
	}
}

func readEach(b *testing.B, all []*runtime.Provider) {
	b.Helper()
	for _, p := range all {
		if _, err := p.Read(b.Context(), "hello://about"); err != nil {
			b.Fatal(err)
		}
	}
}

// reportMemory reports what was added since before, after a rest.
func reportMemory(b *testing.B, before map[string]int) {
	<-time.After(rested)
	now := memoryOfAll(b)
	parent, children := now["parent"]-before["parent"], now["children"]-before["children"]
	b.ReportMetric(float64(parent+children)/1024, "MiB")
	b.ReportMetric(float64(parent)/dense, "KiB-parent/provider")
	b.ReportMetric(float64(children)/dense, "KiB-children/provider")
	b.ReportMetric(0, "ns/op")
}

// memoryOfAll returns the proportional set sizes of this process and of its children, in KiB.
func memoryOfAll(b *testing.B) map[string]int {
	b.Helper()
	debug.FreeOSMemory() // what the opening left is returned at once
	sizes := map[string]int{"parent": proportional("self")}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), ") ")
		var state string
		var parent int
		if fmt.Sscan(rest, &state, &parent); err == nil && parent == os.Getpid() {
			sizes["children"] += proportional(filepath.Base(filepath.Dir(file)))
		}
	}
	return sizes
}

func proportional(pid string) (size int) {
	text, _ := os.ReadFile("/proc/" + pid + "/smaps_rollup") // of one that has ended there is nothing
	_, rest, _ := bytes.Cut(text, []byte("\nPss:"))
	fmt.Sscan(string(rest), &size)
	return size
}

// BenchmarkColdStart is the time from a call of a provider without a process to its answer: a standby worker is ready, and
// all files are in memory.
func BenchmarkColdStart(b *testing.B) {
	for _, bb := range []struct {
		name   string
		binary func(b *testing.B) []byte
	}{
		{"c", func(b *testing.B) []byte { return newProject(b, project.C) }},
		{"javascript", func(b *testing.B) []byte { return newProject(b, project.JavaScript) }},
		{"go", func(b *testing.B) []byte { return guesttest.Binary(b, "hello") }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "p.wasm")
			if err := os.WriteFile(file, bb.binary(b), 0o600); err != nil {
				b.Fatal(err)
			}
			live := newLive(b)
			h := openOn(b, runtime.HostConfig{Idle: time.Millisecond, Live: live})
			p, err := h.Open(b.Context(), file, &runtime.Options{Limits: runtime.Limits{Timeout: time.Minute}})
			if err != nil {
				b.Fatal(err)
			}
			uri := p.Manifest().Resources[0].URI
			var times []time.Duration
			for b.Loop() {
				b.StopTimer()
				awaitNoneLive(live)
				<-time.After(500 * time.Millisecond) // the next standby worker is ready
				b.StartTimer()
				began := time.Now()
				if _, err := p.Read(b.Context(), uri); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, "p50-ms")
			b.ReportMetric(float64(times[0].Microseconds())/1e3, "best-ms")
			if err := errors.Join(p.Close(), h.Close()); err != nil {
				b.Error(err)
			}
		})
	}
}

// newProject builds a new project of a language.
func newProject(b *testing.B, language project.Language) []byte {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "fresh")
	if err := project.Create(dir, language, ""); err != nil {
		b.Fatal(err)
	}
	module, err := project.Build(b.Context(), dir, language, project.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return module.Binary
}
