package wasm

import "fmt"

// An Opcode names an instruction: one-byte opcodes as they are, others as 0xfc00 or 0xfd00 plus the number after the
// prefix.
type Opcode uint16

// String returns the name in the text format, as in "i32.add".
func (o Opcode) String() string {
	if r := o.row(); r.name != "" {
		return r.name
	}
	return fmt.Sprintf("opcode %#x", uint16(o))
}

// Type returns the value types an instruction pops and pushes, first to last. It is not ok when they depend on the
// module, the immediates or the stack, as those of call, local.get and drop do.
func (o Opcode) Type() (params, results string, ok bool) {
	r := o.row()
	if r.name == "" || r.params == varies {
		return "", "", false
	}
	return r.params, r.results, true
}

// MaxAlign returns the largest alignment, as a power of two, that a memory access may state.
func (o Opcode) MaxAlign() uint32 { return uint32(o.row().align) }

// Lanes returns how many lanes the vector of a lane access has; 0 for other instructions.
func (o Opcode) Lanes() byte { return o.row().lanes }

// UsesMemory reports whether the instruction needs the module to have a memory.
func (o Opcode) UsesMemory() bool {
	switch o.row().form {
	case formMemory, formMemoryLane, formZero, formZeroZero, formIndexZero:
		return true
	}
	return false
}

func (o Opcode) row() *row {
	switch o >> 8 {
	case 0xfc:
		return &misc[o&0xff]
	case 0xfd:
		return &vector[o&0xff]
	case 0:
		return &basic[o]
	}
	return &basic[0xff] // which is no opcode
}

// Control.
const (
	OpUnreachable  Opcode = 0x00
	OpNop          Opcode = 0x01
	OpBlock        Opcode = 0x02
	OpLoop         Opcode = 0x03
	OpIf           Opcode = 0x04
	OpElse         Opcode = 0x05
	OpEnd          Opcode = 0x0b
	OpBr           Opcode = 0x0c
	OpBrIf         Opcode = 0x0d
	OpBrTable      Opcode = 0x0e
	OpReturn       Opcode = 0x0f
	OpCall         Opcode = 0x10
	OpCallIndirect Opcode = 0x11
)

// Parametric.
const (
	OpDrop        Opcode = 0x1a
	OpSelect      Opcode = 0x1b
	OpSelectTypes Opcode = 0x1c
)

// Variables and tables.
const (
	OpLocalGet  Opcode = 0x20
	OpLocalSet  Opcode = 0x21
	OpLocalTee  Opcode = 0x22
	OpGlobalGet Opcode = 0x23
	OpGlobalSet Opcode = 0x24
	OpTableGet  Opcode = 0x25
	OpTableSet  Opcode = 0x26
)

// Memory.
const (
	OpI32Load    Opcode = 0x28
	OpI64Load    Opcode = 0x29
	OpF32Load    Opcode = 0x2a
	OpF64Load    Opcode = 0x2b
	OpI32Load8S  Opcode = 0x2c
	OpI32Load8U  Opcode = 0x2d
	OpI32Load16S Opcode = 0x2e
	OpI32Load16U Opcode = 0x2f
	OpI64Load8S  Opcode = 0x30
	OpI64Load8U  Opcode = 0x31
	OpI64Load16S Opcode = 0x32
	OpI64Load16U Opcode = 0x33
	OpI64Load32S Opcode = 0x34
	OpI64Load32U Opcode = 0x35
	OpI32Store   Opcode = 0x36
	OpI64Store   Opcode = 0x37
	OpF32Store   Opcode = 0x38
	OpF64Store   Opcode = 0x39
	OpI32Store8  Opcode = 0x3a
	OpI32Store16 Opcode = 0x3b
	OpI64Store8  Opcode = 0x3c
	OpI64Store16 Opcode = 0x3d
	OpI64Store32 Opcode = 0x3e
	OpMemorySize Opcode = 0x3f
	OpMemoryGrow Opcode = 0x40
)

// Numbers.
const (
	OpI32Const          Opcode = 0x41
	OpI64Const          Opcode = 0x42
	OpF32Const          Opcode = 0x43
	OpF64Const          Opcode = 0x44
	OpI32Eqz            Opcode = 0x45
	OpI32Eq             Opcode = 0x46
	OpI32Ne             Opcode = 0x47
	OpI32LtS            Opcode = 0x48
	OpI32LtU            Opcode = 0x49
	OpI32GtS            Opcode = 0x4a
	OpI32GtU            Opcode = 0x4b
	OpI32LeS            Opcode = 0x4c
	OpI32LeU            Opcode = 0x4d
	OpI32GeS            Opcode = 0x4e
	OpI32GeU            Opcode = 0x4f
	OpI64Eqz            Opcode = 0x50
	OpI64Eq             Opcode = 0x51
	OpI64Ne             Opcode = 0x52
	OpI64LtS            Opcode = 0x53
	OpI64LtU            Opcode = 0x54
	OpI64GtS            Opcode = 0x55
	OpI64GtU            Opcode = 0x56
	OpI64LeS            Opcode = 0x57
	OpI64LeU            Opcode = 0x58
	OpI64GeS            Opcode = 0x59
	OpI64GeU            Opcode = 0x5a
	OpF32Eq             Opcode = 0x5b
	OpF32Ne             Opcode = 0x5c
	OpF32Lt             Opcode = 0x5d
	OpF32Gt             Opcode = 0x5e
	OpF32Le             Opcode = 0x5f
	OpF32Ge             Opcode = 0x60
	OpF64Eq             Opcode = 0x61
	OpF64Ne             Opcode = 0x62
	OpF64Lt             Opcode = 0x63
	OpF64Gt             Opcode = 0x64
	OpF64Le             Opcode = 0x65
	OpF64Ge             Opcode = 0x66
	OpI32Clz            Opcode = 0x67
	OpI32Ctz            Opcode = 0x68
	OpI32Popcnt         Opcode = 0x69
	OpI32Add            Opcode = 0x6a
	OpI32Sub            Opcode = 0x6b
	OpI32Mul            Opcode = 0x6c
	OpI32DivS           Opcode = 0x6d
	OpI32DivU           Opcode = 0x6e
	OpI32RemS           Opcode = 0x6f
	OpI32RemU           Opcode = 0x70
	OpI32And            Opcode = 0x71
	OpI32Or             Opcode = 0x72
	OpI32Xor            Opcode = 0x73
	OpI32Shl            Opcode = 0x74
	OpI32ShrS           Opcode = 0x75
	OpI32ShrU           Opcode = 0x76
	OpI32Rotl           Opcode = 0x77
	OpI32Rotr           Opcode = 0x78
	OpI64Clz            Opcode = 0x79
	OpI64Ctz            Opcode = 0x7a
	OpI64Popcnt         Opcode = 0x7b
	OpI64Add            Opcode = 0x7c
	OpI64Sub            Opcode = 0x7d
	OpI64Mul            Opcode = 0x7e
	OpI64DivS           Opcode = 0x7f
	OpI64DivU           Opcode = 0x80
	OpI64RemS           Opcode = 0x81
	OpI64RemU           Opcode = 0x82
	OpI64And            Opcode = 0x83
	OpI64Or             Opcode = 0x84
	OpI64Xor            Opcode = 0x85
	OpI64Shl            Opcode = 0x86
	OpI64ShrS           Opcode = 0x87
	OpI64ShrU           Opcode = 0x88
	OpI64Rotl           Opcode = 0x89
	OpI64Rotr           Opcode = 0x8a
	OpF32Abs            Opcode = 0x8b
	OpF32Neg            Opcode = 0x8c
	OpF32Ceil           Opcode = 0x8d
	OpF32Floor          Opcode = 0x8e
	OpF32Trunc          Opcode = 0x8f
	OpF32Nearest        Opcode = 0x90
	OpF32Sqrt           Opcode = 0x91
	OpF32Add            Opcode = 0x92
	OpF32Sub            Opcode = 0x93
	OpF32Mul            Opcode = 0x94
	OpF32Div            Opcode = 0x95
	OpF32Min            Opcode = 0x96
	OpF32Max            Opcode = 0x97
	OpF32Copysign       Opcode = 0x98
	OpF64Abs            Opcode = 0x99
	OpF64Neg            Opcode = 0x9a
	OpF64Ceil           Opcode = 0x9b
	OpF64Floor          Opcode = 0x9c
	OpF64Trunc          Opcode = 0x9d
	OpF64Nearest        Opcode = 0x9e
	OpF64Sqrt           Opcode = 0x9f
	OpF64Add            Opcode = 0xa0
	OpF64Sub            Opcode = 0xa1
	OpF64Mul            Opcode = 0xa2
	OpF64Div            Opcode = 0xa3
	OpF64Min            Opcode = 0xa4
	OpF64Max            Opcode = 0xa5
	OpF64Copysign       Opcode = 0xa6
	OpI32WrapI64        Opcode = 0xa7
	OpI32TruncF32S      Opcode = 0xa8
	OpI32TruncF32U      Opcode = 0xa9
	OpI32TruncF64S      Opcode = 0xaa
	OpI32TruncF64U      Opcode = 0xab
	OpI64ExtendI32S     Opcode = 0xac
	OpI64ExtendI32U     Opcode = 0xad
	OpI64TruncF32S      Opcode = 0xae
	OpI64TruncF32U      Opcode = 0xaf
	OpI64TruncF64S      Opcode = 0xb0
	OpI64TruncF64U      Opcode = 0xb1
	OpF32ConvertI32S    Opcode = 0xb2
	OpF32ConvertI32U    Opcode = 0xb3
	OpF32ConvertI64S    Opcode = 0xb4
	OpF32ConvertI64U    Opcode = 0xb5
	OpF32DemoteF64      Opcode = 0xb6
	OpF64ConvertI32S    Opcode = 0xb7
	OpF64ConvertI32U    Opcode = 0xb8
	OpF64ConvertI64S    Opcode = 0xb9
	OpF64ConvertI64U    Opcode = 0xba
	OpF64PromoteF32     Opcode = 0xbb
	OpI32ReinterpretF32 Opcode = 0xbc
	OpI64ReinterpretF64 Opcode = 0xbd
	OpF32ReinterpretI32 Opcode = 0xbe
	OpF64ReinterpretI64 Opcode = 0xbf
	OpI32Extend8S       Opcode = 0xc0
	OpI32Extend16S      Opcode = 0xc1
	OpI64Extend8S       Opcode = 0xc2
	OpI64Extend16S      Opcode = 0xc3
	OpI64Extend32S      Opcode = 0xc4
)

// References.
const (
	OpRefNull   Opcode = 0xd0
	OpRefIsNull Opcode = 0xd1
	OpRefFunc   Opcode = 0xd2
)

// Saturating conversions.
const (
	OpI32TruncSatF32S Opcode = 0xfc00
	OpI32TruncSatF32U Opcode = 0xfc01
	OpI32TruncSatF64S Opcode = 0xfc02
	OpI32TruncSatF64U Opcode = 0xfc03
	OpI64TruncSatF32S Opcode = 0xfc04
	OpI64TruncSatF32U Opcode = 0xfc05
	OpI64TruncSatF64S Opcode = 0xfc06
	OpI64TruncSatF64U Opcode = 0xfc07
)

// Bulk memory and tables.
const (
	OpMemoryInit Opcode = 0xfc08
	OpDataDrop   Opcode = 0xfc09
	OpMemoryCopy Opcode = 0xfc0a
	OpMemoryFill Opcode = 0xfc0b
	OpTableInit  Opcode = 0xfc0c
	OpElemDrop   Opcode = 0xfc0d
	OpTableCopy  Opcode = 0xfc0e
	OpTableGrow  Opcode = 0xfc0f
	OpTableSize  Opcode = 0xfc10
	OpTableFill  Opcode = 0xfc11
)

// Vectors: those with immediates of memory or 16 bytes. The others have names in the text format only.
const (
	OpV128Load        Opcode = 0xfd00
	OpV128Load8x8S    Opcode = 0xfd01
	OpV128Load8x8U    Opcode = 0xfd02
	OpV128Load16x4S   Opcode = 0xfd03
	OpV128Load16x4U   Opcode = 0xfd04
	OpV128Load32x2S   Opcode = 0xfd05
	OpV128Load32x2U   Opcode = 0xfd06
	OpV128Load8Splat  Opcode = 0xfd07
	OpV128Load16Splat Opcode = 0xfd08
	OpV128Load32Splat Opcode = 0xfd09
	OpV128Load64Splat Opcode = 0xfd0a
	OpV128Store       Opcode = 0xfd0b
	OpV128Const       Opcode = 0xfd0c
	OpI8x16Shuffle    Opcode = 0xfd0d
	OpV128Load8Lane   Opcode = 0xfd54
	OpV128Load16Lane  Opcode = 0xfd55
	OpV128Load32Lane  Opcode = 0xfd56
	OpV128Load64Lane  Opcode = 0xfd57
	OpV128Store8Lane  Opcode = 0xfd58
	OpV128Store16Lane Opcode = 0xfd59
	OpV128Store32Lane Opcode = 0xfd5a
	OpV128Store64Lane Opcode = 0xfd5b
	OpV128Load32Zero  Opcode = 0xfd5c
	OpV128Load64Zero  Opcode = 0xfd5d
)
