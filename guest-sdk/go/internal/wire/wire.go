// Package wire appends and reads protobuf-encoded messages, as far as the ABI needs them.
//
// The SDK and wasmrestest may import it. It knows no message and allocates nothing but what append grows.
package wire

import "math"

// A Type is how a field is encoded.
type Type uint8

// The types in use.
const (
	Varint  Type = 0
	Fixed64 Type = 1
	Bytes   Type = 2
	Fixed32 Type = 5
)

// AppendUvarint appends v in base 128.
func AppendUvarint(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendTag(b []byte, num uint32, t Type) []byte {
	return AppendUvarint(b, uint64(num)<<3|uint64(t))
}

// AppendString appends a string field, or nothing when s is empty.
func AppendString(b []byte, num uint32, s string) []byte {
	if s == "" {
		return b
	}
	return AppendElement(b, num, s)
}

// AppendElement appends one element of a repeated string field, even when it is empty.
func AppendElement(b []byte, num uint32, s string) []byte {
	b = AppendUvarint(appendTag(b, num, Bytes), uint64(len(s)))
	return append(b, s...)
}

// AppendBytes appends a bytes field, even when p is empty.
func AppendBytes(b []byte, num uint32, p []byte) []byte {
	b = AppendUvarint(appendTag(b, num, Bytes), uint64(len(p)))
	return append(b, p...)
}

// AppendUint appends a number, or nothing when it is zero.
func AppendUint(b []byte, num uint32, v uint64) []byte {
	if v == 0 {
		return b
	}
	return AppendUvarint(appendTag(b, num, Varint), v)
}

// AppendBool appends v, or nothing when it is false.
func AppendBool(b []byte, num uint32, v bool) []byte {
	if !v {
		return b
	}
	return AppendUint(b, num, 1)
}

// AppendFloat appends a number, or nothing when it is zero.
func AppendFloat(b []byte, num uint32, v float64) []byte {
	if math.Float64bits(v) == 0 {
		return b
	}
	return AppendFixed(b, num, v)
}

// AppendFixed appends a number, even when it is zero.
func AppendFixed(b []byte, num uint32, v float64) []byte {
	b = appendTag(b, num, Fixed64)
	bits := math.Float64bits(v)
	for i := 0; i < 64; i += 8 {
		b = append(b, byte(bits>>i))
	}
	return b
}

// Begin opens an embedded message. What is appended until [End] gets at belongs to it.
func Begin(b []byte, num uint32) (_ []byte, at int) {
	b = append(appendTag(b, num, Bytes), 0)
	return b, len(b)
}

// End closes the message Begin opened. Most are shorter than 128 bytes and get their length in place; others are moved
// a little.
func End(b []byte, at int) []byte {
	size := len(b) - at
	if size < 0x80 {
		b[at-1] = byte(size)
		return b
	}
	var length [10]byte
	head := AppendUvarint(length[:0], uint64(size))
	b = append(b, head[1:]...)
	copy(b[at-1+len(head):], b[at:at+size])
	copy(b[at-1:], head)
	return b
}

// A Field is one decoded field; Text is a part of what was decoded and holds the content of strings, bytes and
// messages.
type Field struct {
	Num  uint32
	Type Type
	Bits uint64
	Text string
}

// Float gives the value of a double.
func (f Field) Float() float64 { return math.Float64frombits(f.Bits) }

// Next splits the first field off s. It reports false when s is malformed.
func Next(s string) (f Field, rest string, ok bool) {
	tag, n := uvarint(s)
	if n == 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return Field{}, "", false
	}
	f.Num, f.Type, s = uint32(tag>>3), Type(tag&7), s[n:]
	switch f.Type {
	case Varint:
		f.Bits, n = uvarint(s)
		return f, s[n:], n > 0
	case Fixed64, Fixed32:
		size := 8
		if f.Type == Fixed32 {
			size = 4
		}
		if len(s) < size {
			return Field{}, "", false
		}
		for i := range size {
			f.Bits |= uint64(s[i]) << (8 * i)
		}
		return f, s[size:], true
	case Bytes:
		size, n := uvarint(s)
		if n == 0 || size > uint64(len(s)-n) {
			return Field{}, "", false
		}
		end := n + int(size)
		f.Text = s[n:end]
		return f, s[end:], true
	}
	return Field{}, "", false
}

// uvarint reads a number of at most ten bytes and says how many it took; 0 means malformed.
func uvarint(s string) (v uint64, n int) {
	for i := 0; i < len(s) && i < 10; i++ {
		c := s[i]
		if i == 9 && c > 1 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
