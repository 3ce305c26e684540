package wasm

import (
	"fmt"
	"unicode/utf8"
)

// A Reader is a bounded cursor over bytes of a module. After the first failure every read returns zero, and Err has the
// fault and its place. It allocates only that error.
type Reader struct {
	b   []byte // up to the end of this reader's part; nothing remains after a failure
	at  int
	err *FormatError
}

// A FormatError describes a malformed part of a module. It is an [ErrFormat].
type FormatError struct {
	Offset int // in the bytes that were read
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: byte %#x: %s", ErrFormat, e.Offset, e.Reason)
}

// Unwrap returns [ErrFormat].
func (e *FormatError) Unwrap() error { return ErrFormat }

// NewReader returns a reader of b, which it keeps and never changes.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Offset returns how many bytes of the whole are before the cursor.
func (r *Reader) Offset() int { return r.at }

// Len returns how many bytes are left; none after a failure.
func (r *Reader) Len() int { return len(r.b) - r.at }

// Err returns the first failure, a [*FormatError], or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// fail sets the first failure. No bytes remain, so that later reads fail too.
func (r *Reader) fail(at int, reason string) {
	if r.err == nil {
		r.err = &FormatError{Offset: at, Reason: reason}
	}
	r.b = r.b[:r.at]
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.at >= len(r.b) {
		r.fail(r.at, "unexpected end")
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

// Bytes reads n bytes: a view of the module.
func (r *Reader) Bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail(r.at, "unexpected end")
		return nil
	}
	from := r.at
	r.at += int(n)
	return r.b[from:r.at:r.at]
}

// Part reads n bytes as a separate reader, which counts offsets as r does and has failed if r has. It is a value, so
// that it needs no allocation.
func (r *Reader) Part(n uint32) Reader {
	from := r.at
	r.Bytes(n)
	return Reader{b: r.b[:r.at:r.at], at: from, err: r.err}
}

// U32 reads an unsigned LEB128 number of 32 bits.
func (r *Reader) U32() uint32 {
	if at := r.at; at < len(r.b) && r.b[at] < 0x80 {
		r.at = at + 1
		return uint32(r.b[at])
	}
	return r.longU32()
}

func (r *Reader) longU32() uint32 {
	var v uint32
	from := r.at
	for i := range 5 {
		if from+i >= len(r.b) {
			r.fail(from, "unexpected end of a number")
			return 0
		}
		c := r.b[from+i]
		if i == 4 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.at = from + i + 1
			return v
		}
	}
	r.fail(from, "number of more than 32 bits")
	return 0
}

// S32 reads a signed LEB128 number of 32 bits.
func (r *Reader) S32() int32 { return int32(r.signed(32)) }

// S33 reads a signed LEB128 number of 33 bits.
func (r *Reader) S33() int64 { return r.signed(33) }

// S64 reads a signed LEB128 number of 64 bits.
func (r *Reader) S64() int64 { return r.signed(64) }

func (r *Reader) signed(bits uint) int64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		r.at++
		return int64(r.b[r.at-1]) << 57 >> 57
	}
	var v int64
	from := r.at
	for shift := uint(0); shift < bits; shift += 7 {
		at := from + int(shift/7)
		if at >= len(r.b) {
			r.fail(from, "unexpected end of a number")
			return 0
		}
		c := r.b[at]
		if left := bits - shift; left < 7 && !fits(c, left) {
			break
		}
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			r.at = at + 1
			if unused := 64 - min(64, shift+7); unused > 0 {
				v = v << unused >> unused
			}
			return v
		}
	}
	r.fail(from, fmt.Sprintf("number of more than %d bits", bits))
	return 0
}

// fits reports whether the last byte of a signed number holds left bits and repeats the sign in the others.
func fits(c byte, left uint) bool {
	if c >= 0x80 {
		return false
	}
	rest := int8(c<<1) >> left // the sign, and whatever is above it
	return rest == 0 || rest == -1
}

// Name reads a length and so many bytes of UTF-8: a view of the module.
func (r *Reader) Name() []byte {
	from := r.at
	name := r.Bytes(r.U32())
	if !utf8.Valid(name) {
		r.at = from
		r.fail(from, "name is not UTF-8")
		return nil
	}
	return name
}
