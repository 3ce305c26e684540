package wasm

import "fmt"

// An Instruction is one decoded instruction. Fields its opcode does not use are zero.
type Instruction struct {
	// Index is the first index: label, function, type, local, global, table, data or element segment; of br_table, the
	// number of labels besides the default. Index2 is the second: the table of call_indirect and table.init, the source
	// of table.copy.
	Index, Index2 uint32

	Op               Opcode
	Lane             byte      // of a lane access
	Align, MemOffset uint32    // of a memory access: the binary logarithm of the alignment, and the offset
	Start, End       int       // offsets of its first byte, and of the one after its last
	Block            BlockType // of block, loop and if
	Value            uint64    // of a constant: the number, sign-extended, or the bits of a float
	Labels           []byte    // of br_table: the encoded labels, the default last; [NewReader] reads them
	Types            []byte    // of select: the value types it states; of ref.null: the reference type
	Vector           []byte    // of v128.const: its 16 bytes; of i8x16.shuffle: the 16 lanes
}

// A BlockType is the type of a block: [BlockEmpty], a value type below zero, or the index of a type.
type BlockType int64

// BlockEmpty is the type of a block without parameters and results.
const BlockEmpty BlockType = -64

// ValueType returns the one result of a block whose type is neither empty nor an index.
func (t BlockType) ValueType() ValueType { return byte(t) & 0x7f }

// A form says which immediates follow an opcode.
type form uint8

const (
	formUnknown form = iota // there is no such opcode
	formPlain
	formBlock      // a block type
	formIndex      // one index
	formIndexes    // two
	formIndexZero  // one, then a zero byte
	formZero       // a zero byte
	formZeroZero   // two
	formLabels     // br_table
	formTypes      // select t*
	formHeap       // ref.null
	formMemory     // alignment and offset
	formMemoryLane // and a lane
	formLane       // a lane
	formVector     // 16 bytes
	formI32
	formI64
	formF32
	formF64
)

// Next decodes one instruction. It returns false at the end of the bytes and on an error; an opcode outside the core
// specification 2.0 is one. It checks nothing against a module: that is validation.
func (r *Reader) Next(ins *Instruction) bool {
	if r.at >= len(r.b) {
		return false
	}
	ins.clear()
	ins.Op, ins.Start = Opcode(r.b[r.at]), r.at
	r.at++
	row := &basic[ins.Op]
	if ins.Op >= 0xfc {
		row = r.prefixed(ins)
	}
	switch row.form {
	case formPlain:
	case formIndex:
		ins.Index = r.U32()
	case formMemory:
		ins.Align, ins.MemOffset = r.U32(), r.U32()
	case formI32:
		ins.Value = uint64(r.S32())
	default:
		r.immediates(ins, row.form)
	}
	ins.End = r.at
	return r.err == nil
}

// clear zeroes the fields that Next does not set in any case. The views rarely need it, and cost a write barrier.
func (ins *Instruction) clear() {
	ins.Lane, ins.Index, ins.Index2, ins.Align, ins.MemOffset, ins.Block, ins.Value = 0, 0, 0, 0, 0, 0, 0
	if ins.Labels != nil {
		ins.Labels = nil
	}
	if ins.Types != nil {
		ins.Types = nil
	}
	if ins.Vector != nil {
		ins.Vector = nil
	}
}

// prefixed reads the number after a prefix. That of a vector instruction must be as short as possible: engines read it
// as one byte, and would otherwise read other instructions than this package.
func (r *Reader) prefixed(ins *Instruction) *row {
	prefix, sub := ins.Op, r.U32()
	shortest := ins.Start + 2
	if sub >= 0x80 {
		shortest++
	}
	long := prefix == 0xfd && r.at != shortest
	if sub > 0xff || long || prefix > 0xfd {
		r.fail(ins.Start, fmt.Sprintf("unknown opcode %#x %#x", uint16(prefix), sub))
		return &basic[0xff]
	}
	ins.Op = prefix<<8 | Opcode(sub)
	return ins.Op.row()
}

func (r *Reader) immediates(ins *Instruction, f form) {
	switch f {
	case formUnknown:
		r.fail(ins.Start, "unknown "+ins.Op.String())
	case formI64:
		ins.Value = uint64(r.S64())
	case formF32:
		ins.Value = r.fixed(4)
	case formF64:
		ins.Value = r.fixed(8)
	case formBlock:
		ins.Block = r.blockType()
	case formIndexes:
		ins.Index, ins.Index2 = r.U32(), r.U32()
	case formIndexZero:
		ins.Index = r.U32()
		r.zero()
	case formZero:
		r.zero()
	case formZeroZero:
		r.zero()
		r.zero()
	default:
		r.rareImmediates(ins, f)
	}
}

func (r *Reader) rareImmediates(ins *Instruction, f form) {
	switch f {
	case formLabels:
		r.labels(ins)
	case formTypes:
		r.types(ins)
	case formHeap:
		ins.Types = r.Bytes(1)
		r.check(r.err != nil || IsRefType(ins.Types[0]), "unknown reference type")
	case formMemoryLane:
		ins.Align, ins.MemOffset, ins.Lane = r.U32(), r.U32(), r.Byte()
	case formLane:
		ins.Lane = r.Byte()
	case formVector:
		ins.Vector = r.Bytes(16)
	}
}

// types reads the types of a select. Their count must be one byte, since engines read it so.
func (r *Reader) types(ins *Instruction) {
	n := r.Byte()
	r.check(n < 0x80, "count of more than one byte")
	ins.Types = r.Bytes(uint32(n))
	for _, t := range ins.Types {
		r.check(IsValueType(t), "unknown value type")
	}
}

// labels reads a br_table: every label takes at least one of the remaining bytes.
func (r *Reader) labels(ins *Instruction) {
	ins.Index = r.U32()
	from := r.at
	for i := uint64(0); i <= uint64(ins.Index) && r.err == nil; i++ {
		r.U32()
	}
	ins.Labels = r.b[from:r.at:r.at]
}

func (r *Reader) blockType() BlockType {
	from := r.at
	t := BlockType(r.S33())
	if t >= 0 || r.at == from+1 && (t == BlockEmpty || IsValueType(t.ValueType())) {
		return t
	}
	r.fail(from, "unknown block type")
	return 0
}

// fixed reads a little-endian number of n bytes.
func (r *Reader) fixed(n uint32) (v uint64) {
	for i, c := range r.Bytes(n) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

func (r *Reader) zero() {
	r.check(r.Byte() == 0, "zero byte expected")
}

// check fails at the byte after those read.
func (r *Reader) check(ok bool, reason string) {
	if !ok {
		r.fail(r.at-1, reason)
	}
}
