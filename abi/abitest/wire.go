package abitest

import (
	"encoding/binary"
	"slices"
)

// A schema says which fields of a message are messages, and of which schema.
type schema map[uint64]schema

var (
	flat       = schema{}
	httpSchema = schema{2: flat}
	sqlSchema  = schema{1: flat, 2: {1: flat}}
	kvSchema   = schema{1: flat}
	fileSchema = schema{1: flat}
)

// later is what a host of a later minor version might send beside known fields: every wire type.
var later = []byte{
	0x98, 0x06, 0x96, 0x01, // 99: a number
	0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, // 100: fixed64
	0xaa, 0x06, 0x03, 0xff, 0x00, 0x0a, // 101: bytes that are no text
	0xb5, 0x06, 1, 2, 3, 4, // 102: fixed32
	0xf8, 0xff, 0xff, 0xff, 0x0f, 0x01, // 2^29-1, the greatest field number
}

// rubbish is what cannot stand in a message: no field, a field that is cut, lengths beyond the end.
var rubbish = []string{
	"\x00\x01", "\x9a", "\x98\x06", "\xa1\x06\x01", "\xb5\x06\x01", "\x9b\x06", "\x9e\x06", "\x9f\x06", "\xaa\x06\x01",
	"\xaa\x06\xff\xff\xff\xff\x07", "\xaa\x06\xff\xff\xff\xff\x0f", "\xaa\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	"\x98\x06\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
}

// cut takes the first field off b. The head is its tag, and the length if it has one; content is nil if it has none.
func cut(b []byte) (number uint64, head, content, rest []byte, ok bool) {
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 {
		return 0, nil, nil, nil, false
	}
	size, lead := uint64(0), 0
	switch tag & 7 {
	case 0:
		_, lead = binary.Uvarint(b[n:])
	case 1:
		size, lead = 8, 0
	case 5:
		size, lead = 4, 0
	case 2:
		size, lead = binary.Uvarint(b[n:])
	default:
		return 0, nil, nil, nil, false
	}
	if lead < 0 || lead == 0 && (tag&7 == 0 || tag&7 == 2) || size > uint64(len(b)-n-lead) {
		return 0, nil, nil, nil, false
	}
	head, content, rest = b[:n+lead], b[n+lead:n+lead+int(size)], b[n+lead+int(size):]
	return tag >> 3, head, content, rest, true
}

// wellFormed reports whether a message and those in it are fields and nothing else.
func (s schema) wellFormed(b []byte) bool {
	for len(b) > 0 {
		number, head, content, rest, ok := cut(b)
		if !ok || s[number] != nil && head[0]&7 == 2 && !s[number].wellFormed(content) {
			return false
		}
		b = rest
	}
	return true
}

// extended puts what is unknown before and after all fields, at every depth.
func (s schema) extended(b []byte) []byte {
	out := slices.Clone(later)
	for len(b) > 0 {
		number, head, content, rest, _ := cut(b)
		if s[number] != nil {
			out = appendMessage(out, number, s[number].extended(content))
		} else {
			out = append(append(out, head...), content...)
		}
		out, b = append(out, later...), rest
	}
	return out
}

// broken returns what a message must not be: cut, or with rubbish at its end, or with such a message in it.
func (s schema) broken(b []byte) (all [][]byte) {
	for n := range b {
		if !s.wellFormed(b[:n]) {
			all = append(all, b[:n])
		}
	}
	for _, end := range rubbish {
		all = append(all, append(slices.Clone(b), end...))
	}
	for at := b; len(at) > 0; {
		number, _, content, rest, _ := cut(at)
		if s[number] != nil {
			for _, inner := range s[number].broken(content) {
				all = append(all, append(appendMessage(slices.Clone(b[:len(b)-len(at)]), number, inner), rest...))
			}
		}
		at = rest
	}
	return all
}

func appendMessage(b []byte, number uint64, content []byte) []byte {
	b = binary.AppendUvarint(b, number<<3|2)
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}
