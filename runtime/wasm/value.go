package wasm

// A ValueType is a value type in its binary encoding.
type ValueType = byte

// The value types.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

// IsValueType reports whether t is one of the value types.
func IsValueType(t ValueType) bool { return t >= V128 && t <= I32 || IsRefType(t) }

// IsRefType reports whether t is one of the reference types.
func IsRefType(t ValueType) bool { return t == FuncRef || t == ExternRef }
