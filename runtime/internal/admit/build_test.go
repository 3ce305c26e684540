package admit_test

import (
	"bytes"
	"slices"

	"github.com/wasmres/wasmres/runtime/wasm"
)

const header = "\x00asm\x01\x00\x00\x00"

// unbounded is a count no module can keep.
var unbounded = []byte{0xff, 0xff, 0xff, 0xff, 0x0f}

// module joins sections.
func module(sections ...[]byte) []byte {
	return append([]byte(header), bytes.Join(sections, nil)...)
}

// section makes a section that is a vector of items.
func section(id byte, items ...[]byte) []byte {
	return wasm.AppendSection(nil, id, vector(items...))
}

// vector counts and joins items.
func vector(items ...[]byte) []byte {
	return append(wasm.AppendU32(nil, uint32(len(items))), bytes.Join(items, nil)...)
}

// raw makes a section from its body.
func raw(id byte, body ...[]byte) []byte { return wasm.AppendSection(nil, id, bytes.Join(body, nil)) }

// times repeats an item.
func times(n int, item ...byte) [][]byte { return slices.Repeat([][]byte{item}, n) }

// fn is a function type, of value types as in "\x7f".
func fn(params, results string) []byte {
	b := wasm.AppendName([]byte{0x60}, params)
	return wasm.AppendName(b, results)
}

// bodyOf makes an entry of the code section; its code ends by itself.
func bodyOf(locals []byte, code ...[]byte) []byte {
	b := append(bytes.Join(append([][]byte{locals}, code...), nil), byte(wasm.OpEnd))
	return append(wasm.AppendU32(nil, uint32(len(b))), b...)
}

// noLocals declares no locals.
var noLocals = []byte{0}

// i32s declares n locals of type i32.
func i32s(n int) []byte {
	return append(wasm.AppendU32([]byte{1}, uint32(n)), wasm.I32)
}

// functions is a module of functions of type [] -> [] with these bodies.
func functions(bodies ...[]byte) []byte {
	return module(section(wasm.SectionType, fn("", "")),
		section(wasm.SectionFunction, times(len(bodies), 0)...),
		section(wasm.SectionCode, bodies...))
}

// u32 encodes a number.
func u32(v int) []byte { return wasm.AppendU32(nil, uint32(v)) }

// name encodes a name.
func name(s string) []byte { return wasm.AppendName(nil, s) }

// join concatenates.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// withoutCustom takes custom sections out, as is done before an engine sees a module.
func withoutCustom(binary []byte) []byte {
	out := []byte(header)
	for s, err := range wasm.Sections(binary) {
		if err != nil {
			return binary
		}
		if s.ID != wasm.SectionCustom {
			out = append(out, s.Raw...)
		}
	}
	return out
}
