package hostile

import (
	"bytes"
	"encoding/binary"
)

// This file writes the binary format, and checks nothing: that is its use.

const header = "\x00asm\x01\x00\x00\x00"

// Ids of sections.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

// Value types and the empty block type.
const (
	i32     = 0x7f
	i64     = 0x7e
	f32     = 0x7d
	f64     = 0x7c
	v128    = 0x7b
	funcref = 0x70
	extern  = 0x6f
	empty   = 0x40
)

// Opcodes.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableSet     = 0x26
	opLoad8        = 0x2d
	opStore32      = 0x36
	opStore64      = 0x37
	opMemoryGrow   = 0x40
	opConst32      = 0x41
	opConst64      = 0x42
	opEqz          = 0x45
	opEq           = 0x46
	opAdd          = 0x6a
	opSub          = 0x6b
	opShl          = 0x74
	opBulk         = 0xfc // prefix
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
)

// Bulk instructions, behind opBulk.
const (
	bulkMemoryInit = 8
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableInit  = 12
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableFill  = 17
)

func u(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// s writes a signed LEB128 number.
func s(n int64) []byte {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func times(n int, b []byte) []byte { return bytes.Repeat(b, n) }

// sized writes b behind its length.
func sized(b []byte) []byte { return cat(u(uint64(len(b))), b) }

func name(s string) []byte { return sized([]byte(s)) }

func vec(items ...[]byte) []byte { return cat(u(uint64(len(items))), cat(items...)) }

// many writes a vector of n equal items.
func many(n int, item []byte) []byte { return cat(u(uint64(n)), times(n, item)) }

func section(id byte, content ...[]byte) []byte { return cat([]byte{id}, sized(cat(content...))) }

func custom(title string, content []byte) []byte { return section(secCustom, name(title), content) }

func module(sections ...[]byte) []byte { return cat([]byte(header), cat(sections...)) }

func funcType(params, results []byte) []byte { return cat([]byte{0x60}, sized(params), sized(results)) }

// body writes a function without its end: groups are its locals.
func body(groups []byte, code ...[]byte) []byte {
	if groups == nil {
		groups = []byte{0}
	}
	return sized(cat(groups, cat(code...), []byte{opEnd}))
}

// locals writes groups for n locals of one type.
func locals(n int, t byte) []byte { return vec(cat(u(uint64(n)), []byte{t})) }

func num(n int64) []byte { return cat([]byte{opConst32}, s(n)) }

func op(code byte, immediates ...uint64) []byte {
	b := []byte{code}
	for _, n := range immediates {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// bulk writes a bulk instruction whose three operands are numbers.
func bulk(code uint64, a, b, c int64, immediates ...uint64) []byte {
	return cat(num(a), num(b), num(c), op(opBulk, append([]uint64{code}, immediates...)...))
}

// nested opens n blocks of a kind around inner.
func nested(n int, kind byte, inner []byte) []byte {
	return cat(times(n, []byte{kind, empty}), inner, times(n, []byte{opEnd}))
}
