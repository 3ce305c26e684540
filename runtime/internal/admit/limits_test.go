package admit_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// numbered returns n exports, or imports, with names of their own.
func numbered(n int, before, after string) [][]byte {
	items := make([][]byte, n)
	for i := range items {
		items[i] = join([]byte(before), name(fmt.Sprint(i)), []byte(after))
	}
	return items
}

// capped has a module for each limit that has n of what is limited.
var capped = []struct {
	limit string
	most  int
	build func(n int) []byte
}{
	{"customs", 1_000, func(n int) []byte { return module(times(n, 0, 1, 0)...) }},
	{"types", 4_000, func(n int) []byte { return module(section(wasm.SectionType, times(n, 0x60, 0, 0)...)) }},
	{"params", 64, func(n int) []byte { return module(section(wasm.SectionType, fn(strings.Repeat("\x7f", n), ""))) }},
	{"results", 16, func(n int) []byte { return module(section(wasm.SectionType, fn("", strings.Repeat("\x7f", n)))) }},
	{"imports", 256, func(n int) []byte {
		return module(section(wasm.SectionType, fn("", "")), section(wasm.SectionImport, numbered(n, "\x01m", "\x00\x00")...))
	}},
	{"functions", 50_000, func(n int) []byte { return functions(times(n, 2, 0, 0x0b)...) }},
	{"tables", 4, func(n int) []byte { return module(section(wasm.SectionTable, times(n, wasm.FuncRef, 0, 0)...)) }},
	{"table_entries", 100_000, func(n int) []byte {
		return module(section(wasm.SectionTable, join([]byte{wasm.FuncRef, 0}, u32(n))))
	}},
	{"globals", 4_000, func(n int) []byte {
		return module(section(wasm.SectionGlobal, times(n, wasm.I32, 0, 0x41, 0, 0x0b)...))
	}},
	{"exports", 4_000, func(n int) []byte {
		return module(section(wasm.SectionMemory, []byte{0, 1}), section(wasm.SectionExport, numbered(n, "", "\x02\x00")...))
	}},
	{"name", 256, func(n int) []byte {
		return module(section(wasm.SectionMemory, []byte{0, 1}),
			section(wasm.SectionExport, join(name(strings.Repeat("n", n)), []byte{2, 0})))
	}},
	{"element_segments", 4_000, func(n int) []byte { return module(section(wasm.SectionElement, times(n, 1, 0, 0)...)) }},
	{"elements", 100_000, func(n int) []byte {
		null := []byte{0xd0, wasm.FuncRef, 0x0b}
		half := func(n int) []byte { return join([]byte{5, wasm.FuncRef}, u32(n), bytes.Repeat(null, n)) }
		return module(section(wasm.SectionElement, half(50_000), half(n-50_000)))
	}},
	{"data_segments", 200_000, func(n int) []byte { return module(section(wasm.SectionData, times(n, 1, 0)...)) }},
	{"body", 1 << 20, func(n int) []byte { return functions(bodyOf(noLocals, bytes.Repeat([]byte{1}, n-2))) }},
	{"locals", 4_000, func(n int) []byte { return functions(bodyOf(i32s(n))) }},
	{"locals", 4_000, func(n int) []byte { return functions(bodyOf(vector(times(n, 0, wasm.I32)...))) }}, // empty groups
	{"total_locals", 1_000_000, func(n int) []byte {
		last := n - 250*4_000
		return functions(append(times(250, bodyOf(i32s(4_000))...), bodyOf(i32s(last)))...)
	}},
	{"operands", 4_000, func(n int) []byte {
		return functions(bodyOf(noLocals, bytes.Repeat([]byte{0x41, 0}, n), bytes.Repeat([]byte{0x1a}, n)))
	}},
	{"blocks", 24_000, func(n int) []byte {
		return functions(bodyOf(noLocals, bytes.Repeat([]byte{0x02, 0x40, 0x0b}, n-1)))
	}},
	{"nesting", 4_000, func(n int) []byte {
		return functions(bodyOf(noLocals, bytes.Repeat([]byte{0x02, 0x40}, n), bytes.Repeat([]byte{0x0b}, n)))
	}},
	{"labels", 8_192, func(n int) []byte { return functions(brTable(n)) }},
	{"total_labels", 500_000, func(n int) []byte {
		last := n - 499*1_000
		return functions(append(times(499, brTable(1_000)...), brTable(last))...)
	}},
	{"loop_locals", 100_000, func(n int) []byte {
		return functions(bodyOf(i32s(n/100), useLocals(n/100), bytes.Repeat([]byte{0x03, 0x40, 0x0b}, 100)))
	}},
	{"joins", 100_000, func(n int) []byte {
		const nested = 100
		return functions(bodyOf(i32s(1_000),
			bytes.Repeat([]byte{0x02, 0x40}, nested), setLocals(n/nested), bytes.Repeat([]byte{0x0b}, nested),
			bytes.Repeat([]byte{0x02, 0x40, 0x41, 0, 0x21, 0, 0x0b}, n%nested)))
	}},
	{"module", 32 << 20, func(n int) []byte {
		const before = len(header) + 1 + 4 // the section's id and size
		return module(raw(wasm.SectionCustom, make([]byte, n-before)))
	}},
}

// brTable is a body with one br_table of n labels.
func brTable(n int) []byte {
	return bodyOf(noLocals, []byte{0x41, 0, 0x0e}, u32(n), bytes.Repeat([]byte{0}, n+1))
}

// useLocals reads locals 0 to n-1.
func useLocals(n int) []byte {
	var code []byte
	for i := range n {
		code = append(append(append(code, 0x20), u32(i)...), 0x1a)
	}
	return code
}

// setLocals sets locals 0 to n-1.
func setLocals(n int) []byte {
	var code []byte
	for i := range n {
		code = append(append(code, 0x41, 0, 0x21), u32(i)...)
	}
	return code
}

func TestEachLimitHoldsExactly(t *testing.T) {
	for _, c := range capped {
		step := 1
		if c.limit == "loop_locals" {
			step = 100
		}
		if _, err := admit.Validate(c.build(c.most), admit.Config{}); err != nil {
			t.Errorf("%s: %d: got %v, want it admitted", c.limit, c.most, err)
		}
		_, err := admit.Validate(c.build(c.most+step), admit.Config{})
		tooMuch := expectLimit(t, c.limit, err)
		if tooMuch == nil {
			continue
		}
		if tooMuch.Found != uint64(c.most+step) || tooMuch.Allowed != uint64(c.most) {
			t.Errorf("%s: got %d found and %d allowed, want %d and %d", c.limit, tooMuch.Found, tooMuch.Allowed, c.most+step, c.most)
		}
	}
}

var defaultCost = limits.Module{}.WithDefaults().Cost

func expectLimit(t *testing.T, limit string, err error) *admit.LimitError {
	t.Helper()
	var tooMuch *admit.LimitError
	if !errors.As(err, &tooMuch) || tooMuch.Limit != limit {
		t.Errorf("%s: got %v, want it exceeded", limit, err)
		return nil
	}
	if code := abi.CodeOf(err); code != abi.CodeModule {
		t.Errorf("%s: got code %v, want %v", limit, code, abi.CodeModule)
	}
	return tooMuch
}

// TestEveryLimitIsTested finds a limit that is added without a module for it.
func TestEveryLimitIsTested(t *testing.T) {
	tested := map[string]bool{"cost": true} // by TestPeaksAreWhatLimitsCompare
	for _, c := range capped {
		tested[strings.ReplaceAll(c.limit, "_", "")] = true
	}
	fields := reflect.TypeFor[limits.Module]()
	for i := range fields.NumField() {
		if field := fields.Field(i).Name; !tested[strings.ToLower(field)] {
			t.Errorf("Limits.%s has no module in the table", field)
		}
	}
}

// TestPeaksAreWhatLimitsCompare admits a module with its own peaks as limits, and refuses it with one less of any.
func TestPeaksAreWhatLimitsCompare(t *testing.T) {
	binary := everything()
	report, err := admit.Check(binary, admit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := admit.Check(binary, admit.Config{Limits: report.Peaks})
	if err != nil {
		t.Fatalf("with its peaks as limits: %v", err)
	}
	if diff := cmp.Diff(report, again); diff != "" {
		t.Errorf("another report (-first +second):\n%s", diff)
	}
	peaks := reflect.ValueOf(report.Peaks)
	for i := range peaks.NumField() {
		field := peaks.Type().Field(i).Name
		if peaks.Field(i).IsZero() {
			continue
		}
		lower := report.Peaks
		less := reflect.ValueOf(&lower).Elem().Field(i)
		if less.CanUint() {
			less.SetUint(less.Uint() - 1)
		} else {
			less.SetInt(less.Int() - 1)
		}
		if less.IsZero() {
			continue // which is the default
		}
		_, err := admit.Check(binary, admit.Config{Limits: lower})
		var tooMuch *admit.LimitError
		if !errors.As(err, &tooMuch) || tooMuch.Found != tooMuch.Allowed+1 && tooMuch.Limit != "cost" {
			t.Errorf("Limits.%s one below %v: got %v", field, peaks.Field(i), err)
		}
	}
}

func TestLimitsSayWhatIsTooMuch(t *testing.T) {
	for want, binary := range map[string][]byte{
		"too many locals: function 1 has 4,001, at most 4,000 are allowed (limit locals)":       functions(bodyOf(noLocals), bodyOf(i32s(4_001))),
		"too many types: the module has 4,294,967,295, at most 4,000 are allowed (limit types)": module(raw(wasm.SectionType, unbounded)),
		"too many parameters: type 1 has 65, at most 64 are allowed (limit params)": module(
			section(wasm.SectionType, fn("", ""), fn(strings.Repeat("\x7f", 65), ""))),
	} {
		_, err := admit.Check(binary, admit.Config{})
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	_, err := admit.Check(everything(), admit.Config{Limits: limits.Module{Cost: time.Microsecond}})
	if err == nil || !strings.HasPrefix(err.Error(), "too long to compile: by function 0 ") {
		t.Errorf("cost: got %v", err)
	}
}

func TestMemoryMayNotStartAboveTheLimit(t *testing.T) {
	starts := func(pages int) []byte { return module(section(wasm.SectionMemory, join([]byte{0}, u32(pages)))) }
	for _, c := range []struct {
		pages uint32
		start int
		ok    bool
	}{
		{0, 1_024, true}, {0, 1_025, false}, {2, 2, true}, {2, 3, false}, {65_536, 65_536, true}, {1 << 31, 65_536, true},
	} {
		report, err := admit.Check(starts(c.start), admit.Config{MemoryPages: c.pages})
		if (err == nil) != c.ok {
			t.Errorf("limit %d: start %d: got %v", c.pages, c.start, err)
		}
		if err == nil {
			if report.MemoryMin != uint32(c.start) || report.MemoryMax != 0 {
				t.Errorf("start %d: got %d to %d", c.start, report.MemoryMin, report.MemoryMax)
			}
			continue
		}
		if code := abi.CodeOf(err); code != abi.CodeMemory {
			t.Errorf("limit %d: start %d: got code %v, want %v", c.pages, c.start, code, abi.CodeMemory)
		}
	}
	_, err := admit.Check(starts(3), admit.Config{MemoryPages: 2})
	if want := "the module starts with 192 KiB of memory, the limit is 128 KiB; --memory raises it"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestCostBoundsManyFunctions has functions that are within the limits one by one.
func TestCostBoundsManyFunctions(t *testing.T) {
	blocks := bodyOf(noLocals, bytes.Repeat([]byte{0x02, 0x40, 0x0b}, 23_999))
	if _, err := admit.Check(functions(times(5, blocks...)...), admit.Config{}); err != nil {
		t.Errorf("5 functions: got %v, want them admitted", err)
	}
	_, err := admit.Check(functions(times(6, blocks...)...), admit.Config{})
	if tooMuch := expectLimit(t, "cost", err); tooMuch != nil && tooMuch.Allowed != uint64(defaultCost) {
		t.Errorf("got %d ns allowed, want %v", tooMuch.Allowed, defaultCost)
	}
}

func TestALimitIsSetByTheNameARefusalGives(t *testing.T) {
	binary := functions(bodyOf(noLocals, []byte{0x02, 0x40, 0x02, 0x40, 0x0b, 0x0b}))
	var module limits.Module
	for _, step := range []struct{ name, value, want string }{
		{"nesting", "1", "(limit nesting)"}, {"nesting", "2", ""},
		{"cost", "1ns", "(limit cost)"}, {"cost", "1s", ""},
	} {
		if err := module.Set(step.name, step.value); err != nil {
			t.Fatal(err)
		}
		_, err := admit.Check(binary, admit.Config{Limits: module})
		if got := fmt.Sprint(err); step.want == "" && err != nil || !strings.Contains(got, step.want) {
			t.Errorf("%s=%s: got %v, want %q", step.name, step.value, err, step.want)
		}
	}
	for _, bad := range [][2]string{{"nesting", "0"}, {"nesting", "-1"}, {"nesting", "4294967296"}, {"cost", "5"}, {"cost", "-1s"}, {"", "1"}, {"memory", "1"}} {
		if err := module.Set(bad[0], bad[1]); err == nil {
			t.Errorf("%s=%s is accepted", bad[0], bad[1])
		}
	}
}
