package provider_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/engine"
	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// A witness is an engine that records the state of each instance when it was made from the image, and compares the state after
// each reset.
type witness struct {
	engine.Engine
	instances []*witnessed
	rests     atomic.Int64
}

type witnessedModule struct {
	engine.Module
	witness *witness
}

type witnessed struct {
	engine.Instance
	witness *witness
	memory  interface{ Bytes() []byte }
	bytes   []byte
	own     []engine.Global // the guest's
	values  []uint64
}

func (w *witness) Compile(ctx context.Context, wasm []byte, host []engine.HostFunc) (engine.Module, error) {
	m, err := w.Engine.Compile(ctx, wasm, host)
	return witnessedModule{m, w}, err
}

func (m witnessedModule) Instantiate(ctx context.Context, host any, memory engine.LinearMemory) (engine.Instance, error) {
	inst, err := m.Module.Instantiate(ctx, host, memory)
	if err != nil {
		return nil, err
	}
	i := &witnessed{Instance: inst, witness: m.witness, memory: memory.(interface{ Bytes() []byte })}
	m.witness.instances = append(m.witness.instances, i)
	return i, nil
}

// Call records the instance before its first call.
func (i *witnessed) Call(ctx context.Context, export string, stack []uint64) error {
	if i.bytes == nil {
		i.bytes = bytes.Clone(i.memory.Bytes())
		for n := range 64 {
			if g := i.Global(meter.Prefix + "g" + strconv.Itoa(n)); g != nil {
				i.own, i.values = append(i.own, g), append(i.values, g.Get())
			}
		}
	}
	return i.Instance.Call(ctx, export, stack)
}

// Trim implements [engine.Trimmer].
func (i *witnessed) Trim() {
	i.witness.rests.Add(1)
	if inner, ok := i.Instance.(engine.Trimmer); ok {
		inner.Trim()
	}
}

// difference gives how the instance differs from its first state; empty when it does not.
func (i *witnessed) difference() string {
	now := i.memory.Bytes()
	if len(now) != len(i.bytes) {
		return fmt.Sprintf("memory has %d bytes, had %d", len(now), len(i.bytes))
	}
	if !bytes.Equal(now, i.bytes) {
		for at := range now {
			if now[at] != i.bytes[at] {
				return fmt.Sprintf("byte %#x is %#x, was %#x", at, now[at], i.bytes[at])
			}
		}
	}
	for n, g := range i.own {
		if v := g.Get(); v != i.values[n] {
			return fmt.Sprintf("global %d is %#x, was %#x", n, v, i.values[n])
		}
	}
	return ""
}

// envCycles sets the number of cycles of TestEveryResetIsByteExact, which takes about a second by default.
const envCycles = "WASMRES_CYCLES"

func TestEveryResetIsByteExact(t *testing.T) {
	if testing.Short() {
		t.Skip("it resets very often")
	}
	cycles := 400
	if text := os.Getenv(envCycles); text != "" {
		cycles, _ = strconv.Atoi(text)
	}
	for name, tt := range map[string]struct {
		binary []byte
		uris   []string
	}{
		"wat": {readModule(t, "faults.wasm"), []string{"x:o", "x:s", "x:a", "x:f", "x:l", "x:m", "x:j", "x:n"}},
		"go": {guesttest.Binary(t, "everything"), []string{
			"test://static-text", "test://static-binary", "test://text/1m", "test://multi", "test://empty", "test://nowhere",
			"test://blob/1m", "test://fault/trap",
		}},
		"c": {cGuest(t), []string{"x:1", "x:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.binary == nil {
				t.Skip("there is no clang with lld here")
			}
			w := &witness{Engine: cachedEngine(t)}
			m, err := provider.Open(t.Context(), provider.Config{
				Runner: pool.InProcess{Engine: w}, Limits: limits.Limits{Calls: 1, Output: 2 << 20, Memory: 128 << 20, Timeout: patience},
			}, tt.binary)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for n := range cycles {
				_, _ = m.Call(t.Context(), abi.OpRead, &abi.Request{URI: tt.uris[n%len(tt.uris)]}, discard{})
				m.AfterResponse()
				if diff := w.instances[len(w.instances)-1].difference(); diff != "" {
					t.Fatalf("cycle %d, after %s: %s", n, tt.uris[n%len(tt.uris)], diff)
				}
			}
			if made := len(w.instances); made > 2 {
				t.Errorf("%d instances were made, want the one that started and one for all calls", made)
			}
		})
	}
}

// cGuest builds a guest in C that writes all over its memory, or gives nil without a compiler for it.
func cGuest(t *testing.T) []byte {
	clang, err := exec.LookPath("clang")
	if err != nil {
		return nil
	}
	if _, err := exec.LookPath("wasm-ld"); err != nil {
		return nil
	}
	out := filepath.Join(t.TempDir(), "scribble.wasm")
	cmd := exec.Command(clang, "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-o", out, "../../../testdata/wasm/scribble.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// TestNothingGrowsWithTheNumberOfCalls compares the process before and after many calls of all kinds.
func TestNothingGrowsWithTheNumberOfCalls(t *testing.T) {
	calls := 3000
	if text := os.Getenv(envCycles); text != "" {
		calls, _ = strconv.Atoi(text)
	}
	m := load(t, provider.Config{Limits: limits.Limits{Output: 1e6}}, "faults.wasm")
	const faults = "oosojorstoop" // the quick ones
	run := func(n int) {
		for i := range n {
			_, _ = m.Call(t.Context(), abi.OpRead, &abi.Request{URI: "x:" + faults[i%len(faults):][:1]}, discard{})
			m.AfterResponse()
		}
		goruntime.GC()
	}
	run(1000)
	before := takeStock(t)
	run(calls)
	after := takeStock(t)
	t.Logf("before %+v, after %d calls %+v", before, calls, after)
	if after.goroutines > before.goroutines || after.files > before.files || after.mappings > before.mappings+16 ||
		after.heap > before.heap+8<<20 {
		t.Errorf("before %+v, after %d calls %+v", before, calls, after)
	}
}

type stock struct{ goroutines, files, mappings, rss, heap int }

func takeStock(t *testing.T) stock {
	t.Helper()
	var heap goruntime.MemStats
	goruntime.ReadMemStats(&heap)
	s := stock{goroutines: goruntime.NumGoroutine(), heap: int(heap.HeapInuse)}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		s.files = len(files)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		s.mappings = bytes.Count(maps, []byte{'\n'})
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, rest, _ := strings.Cut(string(status), "VmRSS:")
		fmt.Sscan(rest, &s.rss) // KiB
	}
	return s
}
