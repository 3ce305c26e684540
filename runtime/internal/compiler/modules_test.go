package compiler_test

import (
	"bytes"
	"encoding/binary"
)

// newModule makes a module of one function without parameters and results. localGroup is its vector of locals.
func newModule(localGroup, code []byte) []byte {
	body := append(append(localGroup, code...), 0x0b)
	body = append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	m := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a")
	m = binary.AppendUvarint(m, uint64(len(body)+1))
	return append(append(m, 1), body...)
}

// tiny compiles at once.
func tiny() []byte { return newModule([]byte{0}, nil) }

// functions has n empty functions, the cost of which is as it should be.
func functions(n int) []byte {
	count := binary.AppendUvarint(nil, uint64(n))
	types := append(count[:len(count):len(count)], make([]byte, n)...)
	bodies := append(count[:len(count):len(count)], bytes.Repeat([]byte{2, 0, 0x0b}, n)...)
	m := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00")
	m = append(binary.AppendUvarint(append(m, 3), uint64(len(types))), types...)
	return append(binary.AppendUvarint(append(m, 10), uint64(len(bodies))), bodies...)
}

// locals has n locals, each of which costs the engine 8 bytes and more.
func locals(n uint64) []byte {
	return newModule(append(binary.AppendUvarint([]byte{1}, n), 0x7f), nil)
}

// ifs has n ifs one after the other, the cost of which grows with the square of n. Each kind is another module.
func ifs(n, kind int) []byte {
	code := []byte{}
	for range kind {
		code = append(code, 0x01) // nop
	}
	for range n {
		code = append(code, 0x20, 0x00, 0x04, 0x40, 0x0b) // local.get 0, if, end
	}
	return newModule([]byte{1, 1, 0x7f}, code)
}
