package abi

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A malformed is a decoding failure: the numbers of the fields that lead to the fault, innermost first, and the fault.
type malformed struct {
	path []uint32
	why  string
}

func (m *malformed) Error() string {
	if len(m.path) == 0 {
		return m.why
	}
	b := []byte("field ")
	for i := len(m.path) - 1; i >= 0; i-- {
		b = append(strconv.AppendUint(b, uint64(m.path[i]), 10), '.')
	}
	return string(b[:len(b)-1]) + ": " + m.why
}

// Reasons of decoding failures.
const (
	whyTruncated = "truncated or not a field"
	whyWireType  = "wrong wire type"
	whyText      = "not UTF-8"
	whyRange     = "number out of range"
)

func fault(why string) error { return &malformed{why: why} }

// asProtocol turns a decoding failure into an [Error] of [CodeProtocol]; what names the message. It returns other
// errors unchanged.
func asProtocol(what string, err error) error {
	if err == nil {
		return nil
	}
	var m *malformed
	if errors.As(err, &m) {
		return Errorf(CodeProtocol, "malformed %s: %v", what, m)
	}
	return err
}

func tooLong(what string, size, limit int) error {
	return Errorf(CodeProtocol, "%s of %d bytes, at most %d are allowed", what, size, limit)
}

func tooMany(what string, limit int) error {
	return Errorf(CodeTooMany, "more than %d %s", limit, what)
}

type wireType uint8

const (
	wireVarint  wireType = 0
	wireFixed64 wireType = 1
	wireBytes   wireType = 2
	wireFixed32 wireType = 5
)

// A field is the protobuf field at hand. The decoder overwrites it with the next field, also of an embedded message.
type field struct {
	num   uint32
	typ   wireType
	count uint16 // of the fields visited, modulo 65,536
	bits  uint64 // numbers of any width
	data  []byte // of wireBytes, a view of what is decoded
	text  texts
	to    Emission // asked now and then whether to continue; nil for messages that are no frames
}

// maxPrefix is how many bytes a tag or a length takes at most, padding included; protobuf libraries want that.
const maxPrefix = 5

// next reads the first field of b, which is not empty. The deprecated groups (wire types 3 and 4) are malformed.
func (f *field) next(b []byte) (rest []byte, ok bool) {
	tag, n := uint64(b[0]), 1
	if tag >= 0x80 {
		tag, n = uvarint(b)
	}
	if n == 0 || n > maxPrefix || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return nil, false
	}
	f.num, f.typ, b = uint32(tag>>3), wireType(tag&7), b[n:]
	switch f.typ {
	case wireVarint:
		f.bits, n = uvarint(b)
		return b[n:], n > 0
	case wireFixed64:
		if len(b) >= 8 {
			f.bits = binary.LittleEndian.Uint64(b)
			return b[8:], true
		}
	case wireFixed32:
		if len(b) >= 4 {
			f.bits = uint64(binary.LittleEndian.Uint32(b))
			return b[4:], true
		}
	case wireBytes:
		size, n := uvarint(b)
		if n > 0 && n <= maxPrefix && size <= uint64(len(b)-n) {
			end := n + int(size)
			f.data = b[n:end:end]
			return b[end:], true
		}
	}
	return nil, false
}

// uvarint reads a base-128 number and returns its length in bytes, at most ten; 0 means malformed. Padded (non-minimal)
// numbers are legal: guests patch lengths in place.
func uvarint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < binary.MaxVarintLen64; i++ {
		c := b[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// decode calls visit for every field of a message. Recursion is at most four deep, as the messages of this package are
// nested.
func decode(b []byte, visit func(*field) error) error {
	f := &field{text: texts{left: len(b)}}
	return f.each(b, visit)
}

func (f *field) each(b []byte, visit func(*field) error) error {
	for len(b) > 0 {
		rest, ok := f.next(b)
		if !ok {
			return fault(whyTruncated)
		}
		if err := f.goOn(); err != nil {
			return err
		}
		num := f.num
		if err := visit(f); err != nil {
			if m, ok := err.(*malformed); ok {
				m.path = append(m.path, num)
			}
			return err
		}
		b = rest
	}
	return nil
}

// goOn counts a field and returns an error when the decoding must end.
func (f *field) goOn() error {
	if f.to == nil {
		return nil
	}
	if f.count++; f.count%continueEvery != 0 {
		return nil
	}
	return f.to.Continue()
}

// The readers below store a field, or fail when it has another wire type. A repeated field replaces the earlier value.

func (f *field) string(dst *string) error {
	if f.typ != wireBytes {
		return fault(whyWireType)
	}
	if !utf8.Valid(f.data) {
		return fault(whyText)
	}
	*dst = f.text.copy(f.data)
	return nil
}

// view stores bytes without copying them. Absent bytes are nil.
func (f *field) view(dst *[]byte) error {
	if f.typ != wireBytes {
		return fault(whyWireType)
	}
	if *dst = f.data; len(f.data) == 0 {
		*dst = nil
	}
	return nil
}

func (f *field) strings(dst *[]string, what string, limit int) error {
	s, err := grow(dst, what, limit)
	if err != nil {
		return err
	}
	return f.string(s)
}

func (f *field) uint64(dst *uint64) error {
	if f.typ != wireVarint {
		return fault(whyWireType)
	}
	*dst = f.bits
	return nil
}

func (f *field) int64(dst *int64) error {
	if f.typ != wireVarint {
		return fault(whyWireType)
	}
	*dst = int64(f.bits)
	return nil
}

// uint32 refuses numbers that do not fit; protobuf libraries drop the high bits.
func (f *field) uint32(dst *uint32) error {
	if f.typ != wireVarint {
		return fault(whyWireType)
	}
	if f.bits > math.MaxUint32 {
		return fault(whyRange)
	}
	*dst = uint32(f.bits)
	return nil
}

func (f *field) bool(dst *bool) error {
	if f.typ != wireVarint {
		return fault(whyWireType)
	}
	*dst = f.bits != 0
	return nil
}

func (f *field) float64(dst *float64) error {
	if f.typ != wireFixed64 {
		return fault(whyWireType)
	}
	*dst = math.Float64frombits(f.bits)
	return nil
}

// message visits the fields of an embedded message.
func (f *field) message(visit func(*field) error) error {
	if f.typ != wireBytes {
		return fault(whyWireType)
	}
	return f.each(f.data, visit)
}

// grow appends a zero element to list and points at it.
func grow[T any](list *[]T, what string, limit int) (*T, error) {
	if len(*list) >= limit {
		return nil, tooMany(what, limit)
	}
	var zero T
	*list = append(*list, zero)
	return &(*list)[len(*list)-1], nil
}

// textChunk is how many bytes texts allocates at once: a string that is kept keeps at most this much memory in use.
const textChunk = 4 << 10

// texts copies strings out of a message, many into one allocation.
type texts struct {
	left  int // bytes of the message that have not become text yet
	chunk strings.Builder
}

func (t *texts) copy(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	size := min(textChunk, t.left)
	t.left -= len(p)
	if len(p) > textChunk/4 {
		return string(p)
	}
	if t.chunk.Cap()-t.chunk.Len() < len(p) {
		t.chunk.Reset()
		t.chunk.Grow(size)
	}
	at := t.chunk.Len()
	t.chunk.Write(p)
	return t.chunk.String()[at:]
}
