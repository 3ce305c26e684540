package admit_test

import (
	"bytes"
	"errors"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// bombs are tiny modules that declare more than any machine has. wazero dies of most of them.
func bombs() map[string][]byte {
	n := unbounded
	types := section(wasm.SectionType, fn("", ""))
	one := section(wasm.SectionFunction, []byte{0})
	code := func(parts ...[]byte) []byte {
		body := join(parts...)
		return module(types, one, section(wasm.SectionCode, append(u32(len(body)), body...)))
	}
	return map[string][]byte{
		"types":            module(raw(wasm.SectionType, n)),
		"params":           module(raw(wasm.SectionType, []byte{1, 0x60}, n)),
		"results":          module(raw(wasm.SectionType, []byte{1, 0x60, 0}, n)),
		"imports":          module(raw(wasm.SectionImport, n)),
		"import name":      module(raw(wasm.SectionImport, []byte{1}, n)),
		"functions":        module(raw(wasm.SectionFunction, n)),
		"tables":           module(raw(wasm.SectionTable, n)),
		"table entries":    module(raw(wasm.SectionTable, []byte{1, wasm.FuncRef, 0}, n)),
		"memories":         module(raw(wasm.SectionMemory, n)),
		"memory pages":     module(raw(wasm.SectionMemory, []byte{1, 0}, n)),
		"globals":          module(raw(wasm.SectionGlobal, n)),
		"exports":          module(raw(wasm.SectionExport, n)),
		"export name":      module(raw(wasm.SectionExport, []byte{1}, n)),
		"start":            module(raw(wasm.SectionStart, n)),
		"element segments": module(raw(wasm.SectionElement, n)),
		"elements":         module(raw(wasm.SectionElement, []byte{1, 1, 0}, n)),
		"data count":       module(raw(wasm.SectionDataCount, n)),
		"bodies":           module(types, one, raw(wasm.SectionCode, n)),
		"body":             module(types, one, raw(wasm.SectionCode, []byte{1}, n)),
		"local groups":     code(n),
		"locals":           code([]byte{1}, n, []byte{wasm.I32, 0x0b}),
		"labels":           code([]byte{0, 0x41, 0, 0x0e}, n),
		"select types":     code([]byte{0, 0x1c}, n),
		"data segments":    module(raw(wasm.SectionData, n)),
		"data":             module(raw(wasm.SectionData, []byte{1, 1}, n)),
		"custom name":      module(raw(wasm.SectionCustom, n)),
		"section":          join([]byte(header), []byte{1}, n),
	}
}

// TestCountBombsCostNothing checks them with the default limits, and with none that would be met first.
func TestCountBombsCostNothing(t *testing.T) {
	all := uint32(1<<32 - 1)
	none := admit.Config{MemoryPages: all, Limits: limits.Module{
		Module: all, Customs: all, Types: all, Params: all, Results: all, Imports: all, Functions: all, Tables: all,
		TableEntries: all - 1, Globals: all, Exports: all, Name: all, ElementSegments: all, Elements: all, DataSegments: all,
		Body: all, Locals: all, TotalLocals: all - 1, Operands: all, Blocks: all, Nesting: all, Labels: all, TotalLabels: all,
		LoopLocals: all, Joins: all,
	}}
	for name, bomb := range bombs() {
		for _, cfg := range []admit.Config{{}, none} {
			took, allocated, err := measure(bomb, cfg)
			if err == nil || abi.CodeOf(err) != abi.CodeModule {
				t.Errorf("%s: got %v, want it refused", name, err)
			}
			if allocated > 1<<20 || took > 500*time.Millisecond {
				t.Errorf("%s: took %v and %d bytes", name, took, allocated)
			}
		}
	}
}

// measure says what checking takes; the figures include what else the process does, and what else the machine does. What
// takes long is measured three times, for the least of each.
func measure(binary []byte, cfg admit.Config) (took time.Duration, allocated uint64, err error) {
	took, allocated, err = measureOnce(binary, cfg)
	for again := 0; took > 200*time.Millisecond && again < 2; again++ {
		t, a, _ := measureOnce(binary, cfg)
		took, allocated = min(took, t), min(allocated, a)
	}
	return took, allocated, err
}

func measureOnce(binary []byte, cfg admit.Config) (time.Duration, uint64, error) {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	start := time.Now()
	_, err := admit.Validate(binary, cfg)
	took := time.Since(start)
	goruntime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc, err
}

// shapes are modules made to be expensive, with function bodies of so many bytes. The names are those of the limits that
// stop them, if none is raised or lowered; what is admitted has a name of its own.
func shapes(body int) map[string][]byte {
	wide := func(code []byte) []byte {
		params, results := bytes.Repeat([]byte{wasm.I32}, 64), bytes.Repeat([]byte{wasm.I32}, 16)
		calls := bodyOf(noLocals, []byte{0x00}, bytes.Repeat(code, body/len(code)), []byte{0x00})
		return module(section(wasm.SectionType, fn(string(params), string(results))),
			section(wasm.SectionFunction, times(20, 0)...),
			section(wasm.SectionTable, []byte{wasm.FuncRef, 0, 1}),
			section(wasm.SectionCode, times(20, calls...)...))
	}
	many := func(n int, code []byte) []byte { return functions(times(n, code...)...) }
	return map[string][]byte{
		"admitted: nops":      many(31, bodyOf(noLocals, bytes.Repeat([]byte{1}, body))),
		"cost":                wide([]byte{0x10, 0}),
		"cost: branches":      wide([]byte{0x00, 0x0c, 0}),
		"blocks":              many(31, bodyOf(noLocals, bytes.Repeat([]byte{0x02, 0x40, 0x0b}, body/3))),
		"nesting":             many(31, bodyOf(noLocals, bytes.Repeat([]byte{0x02, 0x40}, body/2))),
		"operands":            many(31, bodyOf(noLocals, bytes.Repeat([]byte{0x41, 0}, body/2))),
		"labels":              many(31, brTable(body)),
		"joins":               functions(joinBomb(2_000, 1_000)),
		"functions":           many(60_000, []byte{2, 0, 0x0b}),
		"admitted: functions": many(50_000, []byte{2, 0, 0x0b}),
		"admitted: data": module(section(wasm.SectionMemory, []byte{0, 1}),
			section(wasm.SectionData, times(200_000, 0, 0x41, 0, 0x0b, 0)...)),
		"admitted: exports": module(section(wasm.SectionMemory, []byte{0, 1}),
			section(wasm.SectionExport, numbered(4_000, "", "\x02\x00")...)),
		"admitted: types": module(section(wasm.SectionType, times(4_000, fn(string(bytes.Repeat([]byte{wasm.I32}, 64)), "")...)...)),
	}
}

// joinBomb sets locals where many paths join: 20 KB that take wazero 17 s and 1.8 GB.
func joinBomb(depth, n int) []byte {
	labels := []byte{0x02, 0x40, 0x20, 0, 0x0e}
	labels = append(labels, u32(depth)...)
	for i := range depth + 1 {
		labels = append(labels, u32(i)...)
	}
	return bodyOf(i32s(n), bytes.Repeat([]byte{0x02, 0x40}, depth), labels, []byte{0x0b}, setLocals(n),
		bytes.Repeat([]byte{0x0b}, depth), useLocals(n))
}

// TestHostileShapesAreBounded has an eighth of the code, and of the cost, that there may be. Its time is what only a
// mistake takes: how fast it is on a free processor is for BenchmarkCheckHostile.
func TestHostileShapesAreBounded(t *testing.T) {
	for name, shape := range shapes(1 << 17) {
		took, allocated, err := measure(shape, admit.Config{Limits: limits.Module{Cost: defaultCost / 8}})
		t.Logf("%-20s %9d bytes: %8v, %9d allocated: %v", name, len(shape), took.Round(time.Microsecond), allocated, err)
		if allocated > 16<<20 || took > time.Minute {
			t.Errorf("%s: took %v and %d bytes", name, took, allocated)
		}
		var tooMuch *admit.LimitError
		if admitted := len(name) > 9 && name[:9] == "admitted:"; admitted != (err == nil) || err != nil && !errors.As(err, &tooMuch) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
