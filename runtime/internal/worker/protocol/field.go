package protocol

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

var order = binary.LittleEndian

// A reader reads the fields of a payload, one after the other. After a field that is missing or out of bounds, it
// returns zeros.
type reader struct {
	rest []byte
	bad  bool
}

// bytes returns a view of the next n bytes, of which there may be at most most.
func (r *reader) bytes(n uint64, most int) []byte {
	if r.bad || n > uint64(most) || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

// text is bytes, for UTF-8.
func (r *reader) text(n uint64, most int) string {
	b := r.bytes(n, most)
	if !utf8.Valid(b) {
		r.bad = true
		return ""
	}
	return string(b)
}

func (r *reader) uint8() uint8 {
	if b := r.bytes(1, 1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2, 2); b != nil {
		return order.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4, 4); b != nil {
		return order.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8, 8); b != nil {
		return order.Uint64(b)
	}
	return 0
}

// functions returns the next n indices of functions.
func (r *reader) functions(n uint64) (indices []uint32) {
	if n > maxStack {
		r.bad = true
	}
	for ; n > 0 && !r.bad; n-- {
		indices = append(indices, r.uint32())
	}
	return indices
}

// end returns an error unless every field was read and no bytes are left.
func (r *reader) end(k Kind) error {
	if r.bad || len(r.rest) > 0 {
		return malformed(k, "truncated, too long, or a field out of its bounds")
	}
	return nil
}

// truncate cuts a text for people to UTF-8 of at most so many bytes.
func truncate(s string, most int) string {
	if len(s) > most {
		s = s[:most]
		for i := 0; i < utf8.UTFMax && len(s) > 0 && !endsAtRune(s); i++ {
			s = s[:len(s)-1]
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "?")
}

// endsAtRune reports whether s does not end in the middle of a character.
func endsAtRune(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return r != utf8.RuneError || size > 1
}
