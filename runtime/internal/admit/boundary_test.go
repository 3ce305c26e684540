package admit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// offered is what the tests' host has.
var offered = []admit.Import{
	{Module: "host", Name: "add", Type: abi.Signature{Params: []abi.ValueType{abi.I32, abi.I32}, Results: []abi.ValueType{abi.I32}}},
	{Module: "host", Name: "done"},
	{Module: "host", Name: "take", Type: abi.Signature{Params: []abi.ValueType{abi.ValueType(wasm.FuncRef)}}},
}

func TestOnlyWhatIsOfferedCrossesTheBoundary(t *testing.T) {
	types := section(wasm.SectionType, fn("", ""), fn("\x7f\x7f", "\x7f"), fn("\x70", ""), fn("", "\x6f"))
	imports := func(mod, field string, kind ...byte) []byte {
		return module(types, section(wasm.SectionImport, join(name(mod), name(field), kind)))
	}
	exports := func(field string, kind, index byte) []byte {
		return module(types,
			section(wasm.SectionFunction, []byte{0}, []byte{2}, []byte{3}),
			section(wasm.SectionTable, []byte{wasm.FuncRef, 0, 1}),
			section(wasm.SectionMemory, []byte{0, 1}),
			section(wasm.SectionGlobal, []byte{wasm.I32, 1, 0x41, 0, 0x0b}, []byte{wasm.FuncRef, 0, 0xd0, wasm.FuncRef, 0x0b}),
			section(wasm.SectionExport, join(name(field), []byte{kind, index})),
			section(wasm.SectionCode, bodyOf(noLocals), bodyOf(noLocals), bodyOf(noLocals, []byte{0xd0, wasm.ExternRef})))
	}
	for _, c := range []struct {
		name   string
		module []byte
		want   string // empty when it is admitted
	}{
		{"import", imports("host", "add", 0, 1), ""},
		{"import of no values", imports("host", "done", 0, 0), ""},
		{"import of another type", imports("host", "add", 0, 0), "the module imports host.add as [] -> [], expected [i32 i32] -> [i32]"},
		{"import of a reference", imports("host", "take", 0, 2), "the module imports host.take as [funcref] -> [], expected [funcref] -> []"},
		{"unknown function", imports("host", "sub", 0, 1), `the module imports "host"."sub", which no host function has`},
		{"unknown module", imports("other", "add", 0, 1), `the module imports "other"."add", which no host function has`},
		{"quoted", imports("", `a"b`, 0, 1), `the module imports ""."a\"b", which no host function has`},
		{"long names", imports(strings.Repeat("x", 200), "y", 0, 1),
			`the module imports "` + strings.Repeat("x", 64) + `"."y", which no host function has`},
		{"control character", imports("host", "a\x1b[0m", 0, 1), `the name "a\x1b[0m" has control characters`},
		{"C1 control character", imports("host", "a\u009b", 0, 1), `the name "a\u009b" has control characters`},
		{"import of a table", imports("host", "t", 1, wasm.FuncRef, 0, 1), "the module imports a table; it may import functions only"},
		{"import of a memory", imports("host", "m", 2, 0, 1), "the module imports a memory; it must define and export its own"},
		{"import of a global", imports("host", "g", 3, wasm.I32, 0), "the module imports a global; it may import functions only"},
		{"export", exports("f", 0, 0), ""},
		{"export of a memory", exports("memory", 2, 0), ""},
		{"export of a mutable global", exports("g", 3, 0), ""},
		{"export that takes a reference", exports("f", 0, 1), `the module exports "f" as [funcref] -> []; references do not cross the boundary`},
		{"export that gives a reference", exports("f", 0, 2), `the module exports "f" as [] -> [externref]; references do not cross the boundary`},
		{"export of a table", exports("t", 1, 0), `the module exports the table "t"; references do not cross the boundary`},
		{"export of a reference", exports("g", 3, 1), `the module exports the global "g" as funcref; references do not cross the boundary`},
		{"reserved global", exports("wasmres:fuel", 3, 0), `the module exports "wasmres:fuel": names that begin with "wasmres:" are the host's`},
		{"reserved function", exports("wasmres:", 0, 0), `the module exports "wasmres:": names that begin with "wasmres:" are the host's`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := admit.Check(c.module, admit.Config{Imports: offered})
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want it admitted", err)
				}
				return
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if code := abi.CodeOf(err); code != abi.CodeIncompatible {
				t.Errorf("got code %v, want %v", code, abi.CodeIncompatible)
			}
		})
	}
}

func TestWhatIsInvalidIsSaidWhere(t *testing.T) {
	types := section(wasm.SectionType, fn("", ""))
	for _, c := range []struct {
		name   string
		module []byte
		want   string
	}{
		{"operand", functions(bodyOf(noLocals), bodyOf(noLocals, []byte{0x41, 0, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0x6a, 0x1a})),
			"function 1, byte 0x26: i32.add wants i32, found f64"},
		{"no operand", functions(bodyOf(noLocals, []byte{0x1a})), "function 0, byte 0x17: drop wants one operand more than there are"},
		{"operand left", functions(bodyOf(noLocals, []byte{0x41, 0})), "function 0, byte 0x19: end leaves 1 operands too many"},
		{"opcode", functions(bodyOf(noLocals, []byte{0xfe, 0x00})), "function 0, byte 0x17: unknown opcode 0xfe 0x0"},
		{"no memory", functions(bodyOf(noLocals, []byte{0x3f, 0, 0x1a})), "function 0, byte 0x17: memory.size needs a memory"},
		{"no end", functions([]byte{3, 0, 0x02, 0x40}), "function 0, byte 0x19: the function does not end"},
		{"after the end", functions([]byte{3, 0, 0x0b, 0x0b}), "function 0, byte 0x18: bytes after the function's end"},
		{"body cut off", functions([]byte{9, 0, 0x0b}), "function 0, byte 0x16: unexpected end"},
		{"order", module(section(wasm.SectionFunction), types), "byte 0xd: section 1 is out of order"},
		{"unknown section", module([]byte{13, 0}), "byte 0xa: unknown section 13"},
		{"left over", module(raw(wasm.SectionType, []byte{0, 0})), "byte 0xb: section 1 has bytes left over"},
		{"no code", module(types, section(wasm.SectionFunction, []byte{0})), "byte 0x12: 1 functions are declared, 0 have code"},
		{"type", module(types, section(wasm.SectionFunction, []byte{0}, []byte{1})), "function 1, byte 0x13: unknown type 1"},
		{"exported twice", module(section(wasm.SectionMemory, []byte{0, 1}),
			section(wasm.SectionExport, []byte{1, 'm', 2, 0}, []byte{1, 'm', 2, 0})), `export 1, byte 0x18: a second export "m"`},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "not a WebAssembly module: this is a component; a core module is needed"},
		{"section too long", []byte(header + "\x01\x7f"), "not a WebAssembly module: byte 0x8: section is longer than the module"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := admit.Check(c.module, admit.Config{})
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if code := abi.CodeOf(err); code != abi.CodeModule {
				t.Errorf("got code %v, want %v", code, abi.CodeModule)
			}
		})
	}
}

func TestAnImportIsNoExport(t *testing.T) {
	binary := module(
		section(wasm.SectionType, fn("", "")),
		section(wasm.SectionImport, join(name("host"), name("done"), []byte{0, 0})),
		section(wasm.SectionExport, []byte{1, 'g', 0, 0}))
	_, err := admit.Check(binary, admit.Config{Imports: offered})
	if want := `the module exports "g", which it imports; its exports must be its own`; err == nil || err.Error() != want || abi.CodeOf(err) != abi.CodeIncompatible {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestExportsAreReportedWithTheirTypes(t *testing.T) {
	i32, i64 := abi.I32, abi.I64
	binary := module(
		section(wasm.SectionType, fn("\x7f\x7e", "\x7e"), fn("", "")),
		section(wasm.SectionImport, join(name("host"), name("done"), []byte{0, 1})),
		section(wasm.SectionFunction, []byte{0}),
		section(wasm.SectionExport, []byte{1, 'f', 0, 1}, []byte{1, 'g', 0, 1}),
		section(wasm.SectionCode, bodyOf(noLocals, []byte{0x20, 1})))
	report, err := admit.Check(binary, admit.Config{Imports: offered})
	if err != nil {
		t.Fatal(err)
	}
	both := abi.Signature{Params: []abi.ValueType{i32, i64}, Results: []abi.ValueType{i64}}
	want := map[string]abi.Signature{"f": both, "g": both}
	if diff := cmp.Diff(want, report.Exports); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
	if report.Memory || len(report.Frames) != 1 {
		t.Errorf("got memory %v, %d frames; want none, and one for the defined function", report.Memory, len(report.Frames))
	}
}
