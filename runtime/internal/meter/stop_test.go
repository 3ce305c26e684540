package meter_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// patience is how long after tick has said stop, or between two ticks, a test waits before it fails. It is far above
// what is measured, some 0.1 ms, since machines that run tests are busy with others.
const patience = 2 * time.Second

// hostile returns modules that never end, or not in any time that counts, by the shape that keeps them going.
func hostile(tb testing.TB) map[string]workload {
	tb.Helper()
	work := read(tb, "work")
	call := func(i byte) []byte { return []byte{byte(wasm.OpCall), i} }
	tree := make([][]byte, 64)
	for i := 1; i < len(tree); i++ {
		tree[i] = append(call(byte(i-1)), call(byte(i-1))...)
	}
	forever := func(body []byte) []byte {
		out := append([]byte{byte(wasm.OpLoop), 0x40}, body...)
		return append(out, byte(wasm.OpBr), 0, byte(wasm.OpEnd))
	}
	fill := []byte{byte(wasm.OpI32Const), 0, byte(wasm.OpI32Const), 1, byte(wasm.OpI32Const)}
	fill = append(wasm.AppendS32(fill, 64<<20), 0xfc, 0x0b, 0)
	return map[string]workload{
		"loop":         {binary: work, calls: []invocation{{"spinForever", nil}}},
		"host calls":   {binary: work, calls: []invocation{{"callForever", nil}}},
		"call tree":    {binary: assemble(1, tree...), calls: []invocation{{"f63", nil}}},
		"long bodies":  {binary: assemble(1, filler(700_000), forever(call(0))), calls: []invocation{{"f1", nil}}},
		"small fills":  {binary: work, calls: []invocation{{"fillForever", []uint64{0}}}},
		"large fills":  {binary: work, calls: []invocation{{"fillForever", []uint64{4 << 20}}}},
		"large copies": {binary: work, calls: []invocation{{"copyForever", []uint64{1 << 20, 3 << 20}}}},
		"growing":      {binary: work, calls: []invocation{{"growForever", nil}}},
		"2000 fills":   {binary: assemble(1024, bytes.Repeat(fill, 2000)), calls: []invocation{{"f0", nil}}},
		"fibonacci":    {binary: work, calls: []invocation{{"fib", []uint64{90}}}},
	}
}

func TestEveryShapeStopsSoonAndCanBeUsedAgain(t *testing.T) {
	ticks := 20
	if testing.Short() {
		ticks = 4
	}
	h := newHost(t)
	for name, w := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			g, err := h.metered(w.binary, generous)
			if err != nil {
				t.Fatal(err)
			}
			defer g.close()
			for range 2 {
				last, longest := time.Now(), time.Duration(0)
				g.slice = 250_000
				g.onTick = func() bool {
					longest = max(longest, time.Since(last))
					last = time.Now()
					return g.ticks < ticks
				}
				_, err = g.call(w.calls[0].function, w.calls[0].args...)
				took := time.Since(last)
				if !errors.Is(err, errStopped) || g.ticks != ticks {
					t.Fatalf("got %v after %d ticks, want a stop after %d", err, g.ticks, ticks)
				}
				if took > patience || longest > patience {
					t.Errorf("%v from the stop to the end, at most %v between ticks", took, longest)
				}
				t.Logf("%v from the stop to the end, at most %v between ticks", took, longest)
			}
			if g.onTick = nil; bytes.Equal(w.binary, read(t, "work")) {
				if got, err := g.call("fib", 10); err != nil || got[0] != 55 {
					t.Errorf("afterwards fib(10) is %v, %v, want 55", got, err)
				}
			}
		})
	}
}

func TestDeepRecursionStopsByDepth(t *testing.T) {
	h := newHost(t)
	g, err := h.metered(read(t, "work"), generous)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []invocation{{"deep", []uint64{1 << 30}}, {"recurseForever", nil}} {
		_, err := g.call(c.function, c.args...)
		if depth := int32(g.depth.Get()); depth >= 0 || kind(err) != "wasm error: unreachable" {
			t.Errorf("%s: got %v with depth %d, want the trap of unreachable with depth below zero", c.function, err, depth)
		}
	}
	if got, err := g.call("deep", 100); err != nil || got[0] != 100 {
		t.Errorf("armed again: got %v, %v, want 100", got, err)
	}
	if _, err := g.call("spin", 1); err != nil || int32(g.depth.Get()) != g.stack {
		t.Errorf("a function that calls nothing: %v, depth %d", err, int32(g.depth.Get()))
	}
}

// TestFramesAreCharged sees that what the host estimates is used, and functions without an estimate get a larger one.
func TestFramesAreCharged(t *testing.T) {
	const frame = 1000
	h := newHost(t)
	most := func(frames []uint32) (depth uint64) {
		cfg := generous
		cfg.Frames = frames
		g, err := h.metered(read(t, "work"), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for n := uint64(1); n < 1<<20; n *= 2 {
			if _, err := g.call("deep", n); err == nil {
				depth = n
			}
		}
		return depth
	}
	known := slices.Repeat([]uint32{frame}, 40)
	if got, want := most(known), uint64(1024); got != want { // 1 MiB holds 1048 frames
		t.Errorf("with frames of %d bytes the depth is %d, want %d", frame, got, want)
	}
	if got := most(nil); got == 0 || got > 2048 {
		t.Errorf("with unknown frames the depth is %d, want one that allows for 500 bytes each", got)
	}
}

// TestNotArmedMeansNotRunning covers what a host may forget.
func TestNotArmedMeansNotRunning(t *testing.T) {
	h := newHost(t)
	code, err := meter.Rewrite(read(t, "work"), generous)
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{code: code, slice: 0, stack: 0, onTick: func() bool { return false }}
	if err := g.instantiate(h, code.Binary, code.MaxPages); err != nil {
		t.Fatal(err)
	}
	g.fuel, g.depth, g.dirty = g.global(meter.ExportFuel), g.global(meter.ExportDepth), g.global(meter.ExportDirty)
	for _, name := range []string{"spin", "fib", "fill"} {
		args := make([]uint64, len(g.module.ExportedFunction(name).Definition().ParamTypes()))
		if _, err := g.call(name, args...); err == nil {
			t.Errorf("%s ran", name)
		}
	}
}

// bulkCases are ranges that matter: none, overlapping both ways, at the edges of chunks and of the memory, wrapping.
func bulkCases() (cases [][]uint64) {
	const page, chunk = 1 << 16, 1 << 16
	const size = 64 * page
	for _, n := range []uint64{0, 1, 100, chunk - 1, chunk, chunk + 1, 3*chunk + 7, size, size + 1, 1 << 31, 1<<32 - 1} {
		for _, to := range []uint64{0, 1, 5 * page, size - chunk - 1, size - 1, size, size + 1, 1<<32 - 1, 1<<32 - chunk} {
			for _, from := range []uint64{0, 1, 5*page - 3, 5*page + 9, size - 2*chunk, size, 1<<32 - chunk} {
				cases = append(cases, []uint64{to, from, n})
			}
		}
	}
	return cases
}

func TestBulkOperationsDoTheSame(t *testing.T) {
	h := newHost(t)
	plain, err := h.original(read(t, "work"))
	if err != nil {
		t.Fatal(err)
	}
	metered, err := h.metered(read(t, "work"), generous)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*guest{plain, metered} {
		memory, _ := g.module.Memory().Read(0, g.module.Memory().Size())
		for i := range memory {
			memory[i] = byte(i*7 + i>>8*13 + i>>16*31)
		}
	}
	for i, args := range bulkCases() {
		for _, name := range []string{"copy", "fill"} {
			_, wantErr := plain.call(name, args...)
			_, err := metered.call(name, args...)
			if kind(err) != kind(wantErr) {
				t.Fatalf("%s%v: got %v, want %v", name, args, err, wantErr)
			}
			if name == "fill" && i%7 != 0 {
				break // more copies than fills, lest all bytes get the same
			}
		}
		a, _ := plain.module.Memory().Read(0, plain.module.Memory().Size())
		b, _ := metered.module.Memory().Read(0, metered.module.Memory().Size())
		if !bytes.Equal(a, b) {
			t.Fatalf("memories differ after %v", args)
		}
	}
}

// TestBulkOperationsArePaid states what they cost.
func TestBulkOperationsArePaid(t *testing.T) {
	h := newHost(t)
	g, err := h.metered(read(t, "work"), generous)
	if err != nil {
		t.Fatal(err)
	}
	price := func(name string, n uint64) int64 {
		var used [2]int64
		for i, length := range []uint64{0, n} {
			if _, err := g.call(name, 0, 0, length); err != nil {
				t.Fatal(err)
			}
			used[i] = g.used()
		}
		return used[1] - used[0]
	}
	for _, name := range []string{"copy", "fill"} {
		for _, n := range []uint64{4, 400, 1 << 16, 3 << 20} {
			chunks := int64(0)
			if n > 1<<16 {
				chunks = int64(n)>>16 - 1
			}
			if got, want := price(name, n), int64(n)/4+16*chunks; got != want {
				t.Errorf("%s of %d bytes costs %d more than none, want %d", name, n, got, want)
			}
		}
	}
}
