package meter_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/wasmres/wasmres/runtime/wasm"
)

// read returns a module of testdata.
func read(tb testing.TB, name string) []byte {
	tb.Helper()
	binary, err := os.ReadFile("testdata/" + name + ".wasm")
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// section appends a section with so many items.
func section(out []byte, id byte, items ...[]byte) []byte {
	body := wasm.AppendU32(nil, uint32(len(items)))
	for _, item := range items {
		body = append(body, item...)
	}
	return wasm.AppendSection(out, id, body)
}

// assemble makes a module of functions without parameters and results, exported as f0, f1 …, from their instructions
// without the last end. Its memory has so many pages.
func assemble(pages uint32, functions ...[]byte) []byte {
	var types, exports, bodies [][]byte
	for i, instructions := range functions {
		types = append(types, []byte{0})
		exports = append(exports, wasm.AppendU32(append(wasm.AppendName(nil, fmt.Sprintf("f%d", i)), 0), uint32(i)))
		body := append(append([]byte{0}, instructions...), byte(wasm.OpEnd))
		bodies = append(bodies, append(wasm.AppendU32(nil, uint32(len(body))), body...))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = section(out, wasm.SectionType, []byte{0x60, 0, 0})
	out = section(out, wasm.SectionFunction, types...)
	out = section(out, wasm.SectionMemory, wasm.AppendU32([]byte{0}, pages))
	out = section(out, wasm.SectionExport, exports...)
	return section(out, wasm.SectionCode, bodies...)
}

// countName exports the number of instructions begun by a module that [counted] made.
const countName = "count"

// counting is how many instructions counted puts before each.
const counting = 4

// counted returns a module that counts its own instructions: a reference for what fuel has to pay for, which shares no
// code with the meter.
func counted(tb testing.TB, binary []byte) []byte {
	tb.Helper()
	globals := countGlobals(tb, binary)
	add := wasm.AppendU32([]byte{byte(wasm.OpGlobalGet)}, globals)
	add = append(add, byte(wasm.OpI64Const), 1, byte(wasm.OpI64Add), byte(wasm.OpGlobalSet))
	add = wasm.AppendU32(add, globals)
	global := []byte{wasm.I64, 1, byte(wasm.OpI64Const), 0, byte(wasm.OpEnd)}
	export := wasm.AppendU32(append(wasm.AppendName(nil, countName), 3), globals)
	out := []byte("\x00asm\x01\x00\x00\x00")
	last := byte(0)
	missing := func(upto byte) {
		if last < wasm.SectionGlobal && upto > wasm.SectionGlobal && globals == 0 {
			out = section(out, wasm.SectionGlobal, global)
		}
	}
	for s, err := range wasm.Sections(binary) {
		if err != nil {
			tb.Fatal(err)
		}
		if s.ID == wasm.SectionCustom {
			continue
		}
		missing(s.ID)
		last = s.ID
		switch s.ID {
		case wasm.SectionGlobal:
			out = grown(out, s, global)
		case wasm.SectionExport:
			out = grown(out, s, export)
		case wasm.SectionCode:
			out = countedCode(tb, out, s, add)
		default:
			out = append(out, s.Raw...)
		}
	}
	return out
}

// grown appends a section with one more item.
func grown(out []byte, s wasm.Section, item []byte) []byte {
	r := wasm.NewReader(s.Body)
	body := wasm.AppendU32(nil, r.U32()+1)
	body = append(append(body, r.Bytes(uint32(r.Len()))...), item...)
	return wasm.AppendSection(out, s.ID, body)
}

func countGlobals(tb testing.TB, binary []byte) uint32 {
	tb.Helper()
	for s := range wasm.Sections(binary) {
		if s.ID == wasm.SectionGlobal {
			return s.Reader().U32()
		}
	}
	return 0
}

func countedCode(tb testing.TB, out []byte, s wasm.Section, add []byte) []byte {
	tb.Helper()
	r := wasm.NewReader(s.Body)
	var bodies [][]byte
	for range r.U32() {
		code := r.Bytes(r.U32())
		b := wasm.NewReader(code)
		for range b.U32() {
			b.U32()
			b.Byte()
		}
		body := append([]byte(nil), code[:b.Offset()]...)
		var ins wasm.Instruction
		for b.Next(&ins) {
			body = append(append(body, add...), code[ins.Start:ins.End]...)
		}
		if b.Err() != nil {
			tb.Fatal(b.Err())
		}
		bodies = append(bodies, append(wasm.AppendU32(nil, uint32(len(body))), body...))
	}
	return section(out, wasm.SectionCode, bodies...)
}
