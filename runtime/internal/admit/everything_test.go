package admit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/admit"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/wasm"
)

// everything is a module with at least two of each thing that is limited, and with every section.
func everything() []byte {
	const i32, f64, v128, funcref = "\x7f", "\x7c", "\x7b", "\x70"
	return module(
		raw(wasm.SectionCustom, name("note"), []byte("hello")),
		section(wasm.SectionType, fn("", ""), fn(i32+i32, i32), fn(f64+v128, v128+f64), fn(i32+i32, i32+i32)),
		section(wasm.SectionFunction, []byte{0}, []byte{1}, []byte{2}),
		section(wasm.SectionTable, []byte{wasm.FuncRef, 1, 2, 9}, []byte{wasm.ExternRef, 0, 0}),
		section(wasm.SectionMemory, []byte{1, 2, 3}),
		section(wasm.SectionGlobal,
			[]byte{wasm.I32, 1, 0x41, 7, 0x0b},
			[]byte{wasm.FuncRef, 0, 0xd2, 2, 0x0b}),
		section(wasm.SectionExport, join(name(abi.ExportMemory), []byte{2, 0}), join(name("add"), []byte{0, 1}),
			join(name("counter"), []byte{3, 0})),
		raw(wasm.SectionStart, []byte{0}),
		section(wasm.SectionElement, []byte{0, 0x41, 0, 0x0b, 2, 0, 1}, []byte{7, wasm.ExternRef, 1, 0xd0, wasm.ExternRef, 0x0b}),
		raw(wasm.SectionDataCount, []byte{2}),
		section(wasm.SectionCode, bodyOf(i32s(3), everyControl()),
			bodyOf(noLocals, []byte{0x20, 0, 0x20, 1, 0x6a}),
			bodyOf(noLocals, []byte{0x20, 1, 0x20, 0})),
		section(wasm.SectionData, []byte{0, 0x41, 0, 0x0b, 3, 'a', 'b', 'c'}, []byte{1, 2, 'd', 'e'}),
		raw(wasm.SectionCustom, name("name"), []byte{1, 0xff}),
	)
}

// everyControl has blocks, branches and calls, and uses memory, tables and segments.
func everyControl() []byte {
	return []byte{
		0x02, 0x40, // block
		0x03, 0x40, // loop
		0x20, 0, 0x0d, 1, // local.get, br_if
		0x20, 1, 0x0e, 2, 0, 1, 1, // local.get, br_table
		0x41, 0, 0x21, 2, // i32.const, local.set
		0x0b, 0x0b, // end, end
		0x03, 0x40, 0x0b, // loop, end
		0x41, 1, 0x41, 2, // i32.const, i32.const
		0x02, 3, 0x0b, // block [i32 i32] -> [i32 i32], end
		0x41, 0, 0x11, 1, 0, // i32.const, call_indirect [i32 i32] -> [i32]
		0x04, 0x40, 0x00, 0x05, 0x0b, // if, unreachable, else, end
		0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 0x08, 1, 0, // memory.init
		0xfc, 0x09, 1, // data.drop
		0xfc, 0x0d, 1, // elem.drop
		0x41, 0, 0x28, 2, 0, // i32.load
		0xfd, 0x0f, 0xfd, 0x53, 0x1a, // i8x16.splat, v128.any_true, drop
		0xd0, wasm.ExternRef, 0xd0, wasm.ExternRef, 0x41, 0, 0x1c, 1, wasm.ExternRef, // select (externref)
		0xd1, 0x1a, // ref.is_null, drop
	}
}

func TestTheReportSaysWhatIsThere(t *testing.T) {
	got, err := admit.Check(everything(), admit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	i32 := abi.I32
	want := &admit.Report{
		Exports:      map[string]abi.Signature{"add": {Params: []abi.ValueType{i32, i32}, Results: []abi.ValueType{i32}}},
		Memory:       true,
		MemoryMin:    2,
		MemoryMax:    3,
		Instructions: 47,
		Loops:        2,
		Calls:        1,
		Blocks:       25, // one each, block twice, br_if 2, br_table 3, loop 6 twice, if 3
		DataBytes:    5,
		CustomBytes:  17,
		// 3 locals, 3 operands of up to 16 bytes and 14 values, one of 16 bytes, with a join; 2 parameters, 2 operands and
		// 2 values; a number, a vector, as many operands, and both again as results.
		Frames: []uint32{64 + 8*(3+6+15+2), 64 + 8*(2+2+2), 64 + 8*(3+4+3)},
		Peaks: limits.Module{
			Module: uint32(len(everything())), Customs: 2, Types: 4, Params: 2, Results: 2, Functions: 3, Tables: 2,
			TableEntries: 2, Globals: 2, Exports: 3, Name: 7, ElementSegments: 2, Elements: 3, DataSegments: 2, Body: 84,
			Locals: 3, TotalLocals: 3, Operands: 3, Blocks: 23, Nesting: 2, Labels: 2, TotalLabels: 2, LoopLocals: 6, Joins: 2,
		},
	}
	if got.Peaks.Cost < 60*time.Microsecond || got.Peaks.Cost > 200*time.Microsecond {
		t.Errorf("got cost %v", got.Peaks.Cost)
	}
	got.Peaks.Cost, want.Peaks.Body = 0, got.Peaks.Body
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
