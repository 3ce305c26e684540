package meter_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/wasmres/wasmres/runtime/internal/meter"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// A workload is calls of a module that end by themselves or are stopped after some ticks.
type workload struct {
	name   string
	binary []byte
	calls  []invocation
}

type invocation struct {
	function string
	args     []uint64
}

func workloads(tb testing.TB) []workload {
	tb.Helper()
	list := []workload{{"work", read(tb, "work"), []invocation{
		{"fib", []uint64{15}}, {"spin", []uint64{5000}}, {"sum", []uint64{5000}}, {"calls", []uint64{2000}}, {"ways", []uint64{900}},
		{"deep", []uint64{1000}}, {"deep", []uint64{1 << 30}}, {"spinForever", nil}, {"callForever", nil}, {"recurseForever", nil},
		{"fillForever", []uint64{100}}, {"copyForever", []uint64{100, 1000}}, {"growForever", nil},
		{"copies", []uint64{1000, 50}}, {"fills", []uint64{1000, 50}},
	}}}
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 40
	if underRace {
		rounds = 8
	}
	for round := range rounds {
		list = append(list, shapes(random, 2<<(round%8))...)
	}
	return list
}

// filler is straight code of so many instructions, rounded up to be even.
func filler(instructions int) []byte {
	return bytes.Repeat([]byte{byte(wasm.OpI32Const), 0, byte(wasm.OpDrop)}, (instructions+1)/2)
}

// shapes are functions in which straight code of any length stands in many places.
func shapes(random *rand.Rand, longest int) []workload {
	const void = 0x40
	code := func() []byte { return filler(random.IntN(longest + 1)) }
	counter := func(most int) []byte { // leaves 0 once in some rounds, by a number in memory
		n := byte(1 + random.IntN(most))
		return []byte{
			byte(wasm.OpI32Const), 0, byte(wasm.OpI32Const), 0, byte(wasm.OpI32Load), 2, 0, byte(wasm.OpI32Const), 1, byte(wasm.OpI32Add),
			byte(wasm.OpI32Store), 2, 0, byte(wasm.OpI32Const), 0, byte(wasm.OpI32Load), 2, 0, byte(wasm.OpI32Const), n, byte(wasm.OpI32RemU),
		}
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	loop := func(body []byte) []byte {
		return join([]byte{byte(wasm.OpLoop), void}, body, counter(20), []byte{byte(wasm.OpBrIf), 0, byte(wasm.OpEnd)})
	}
	early := join(counter(3), []byte{byte(wasm.OpIf), void, byte(wasm.OpReturn), byte(wasm.OpEnd)})
	bodies := map[string][]byte{
		"straight":       code(),
		"loop":           loop(code()),
		"nested":         loop(join(code(), loop(loop(code())), code())),
		"behind":         join(loop(nil), code(), loop(nil), code()),
		"large in small": loop(loop(code())),
		"early":          loop(join(code(), early, code())),
		"never back":     join([]byte{byte(wasm.OpLoop), void}, code(), []byte{byte(wasm.OpEnd)}, code()),
		"else":           loop(join(counter(2), []byte{byte(wasm.OpIf), void}, code(), []byte{byte(wasm.OpElse)}, code(), code(), []byte{byte(wasm.OpEnd)}, code())),
		"continue": join([]byte{byte(wasm.OpLoop), void}, code(), counter(30), []byte{byte(wasm.OpBrIf), 0}, code(), code(),
			counter(7), []byte{byte(wasm.OpBrIf), 0}, code(), []byte{byte(wasm.OpEnd)}),
		"from within": join([]byte{byte(wasm.OpLoop), void}, code(), []byte{byte(wasm.OpLoop), void}, code(), counter(5), []byte{byte(wasm.OpBrIf), 0}, code(),
			counter(60), []byte{byte(wasm.OpBrIf), 1, byte(wasm.OpEnd)}, code(), counter(3), []byte{byte(wasm.OpBrIf), 0, byte(wasm.OpEnd)}),
		"apart": join([]byte{byte(wasm.OpBlock), void}, code(), counter(2), []byte{byte(wasm.OpBrIf), 0}, code(), counter(3),
			[]byte{byte(wasm.OpBrIf), 0, byte(wasm.OpReturn), byte(wasm.OpEnd)}, code(), code()),
		"trap": join(code(), []byte{byte(wasm.OpUnreachable)}, code()),
	}
	var list []workload
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		caller := loop([]byte{byte(wasm.OpCall), 0, byte(wasm.OpCall), 0})
		binary := assemble(1, bodies[name], caller, loop([]byte{byte(wasm.OpCall), 1}))
		list = append(list, workload{fmt.Sprintf("%s %d", name, longest), binary, []invocation{{"f0", nil}, {"f1", nil}, {"f2", nil}}})
	}
	return list
}

// TestWhatIsExecutedIsPaid holds the meter to its promise at every moment: a module that counts its own instructions is
// metered, and every charge ticks, where the count is compared with what was charged until then.
func TestWhatIsExecutedIsPaid(t *testing.T) {
	if testing.Short() {
		t.Skip("it looks at each instruction of long calls")
	}
	h := newHost(t)
	for _, w := range workloads(t) {
		g, err := h.metered(counted(t, w.binary), generous)
		if err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		g.slice = 0
		for _, c := range w.calls {
			a := audit{guest: g, count: g.module.ExportedGlobal(countName)}
			a.from = int64(a.count.Get())
			g.onTick = a.look
			g.call(c.function, c.args...)
			a.look()
			if a.worst > counting+1 { // an instruction that was counted may not have been executed
				t.Errorf("%s: %s: %d instructions more than charged", w.name, c.function, a.worst)
			}
		}
		g.close()
	}
}

// An audit compares what a guest has executed with what it has paid.
type audit struct {
	*guest
	count   api.Global
	from    int64
	charged int64
	worst   int64 // instructions executed and not charged before
}

func (a *audit) look() bool {
	const most = 2000 // ticks
	executed := (int64(a.count.Get()) - a.from) * (counting + 1)
	a.worst = max(a.worst, executed-a.charged)
	a.charged = a.used()
	return a.ticks < most
}

// TestFuelUsedIsReproducible compares instances and slices: neither changes what a call uses.
func TestFuelUsedIsReproducible(t *testing.T) {
	h := newHost(t)
	binary := read(t, "work")
	var want []int64
	for round, slice := range []int64{1_000_000, 1, 77, 5000} {
		g, err := h.metered(binary, generous)
		if err != nil {
			t.Fatal(err)
		}
		g.slice = slice
		for i, c := range workloads(t)[0].calls[:5] {
			if _, err := g.call(c.function, c.args...); err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				want = append(want, g.used())
			} else if g.used() != want[i] {
				t.Errorf("%s: used %d with slices of %d, want %d", c.function, g.used(), slice, want[i])
			}
		}
	}
}

func TestRewritingIsReproducible(t *testing.T) {
	for _, name := range []string{"work", "state"} {
		first, err := meter.Rewrite(read(t, name), generous)
		if err != nil {
			t.Fatal(err)
		}
		second, err := meter.Rewrite(read(t, name), generous)
		if err != nil || !bytes.Equal(first.Binary, second.Binary) {
			t.Errorf("%s: two results differ: %v", name, err)
		}
	}
}
