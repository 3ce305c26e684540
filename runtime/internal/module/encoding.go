package module

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/wasmres/wasmres/runtime/internal/meter"
)

// Append appends the encoding of m to b. It is for another process of this program, not for storage.
func (m *Module) Append(b []byte) []byte {
	b = putString(b, m.Digest)
	b = binary.AppendUvarint(b, uint64(m.Size))
	b = putBool(b, m.Manifest != nil)
	b = putString(b, m.Manifest)
	b = putStrings(b, m.Exports)
	b = putBool(b, m.noData)
	return putCode(b, m.Code)
}

func putCode(b []byte, m *meter.Module) []byte {
	b = putString(b, m.Binary)
	b = putStrings(b, m.Globals)
	b = putBool(b, m.Start)
	b = binary.AppendUvarint(b, uint64(m.MinPages))
	b = binary.AppendUvarint(b, uint64(m.MaxPages))
	b = putString(b, m.CanDirty)
	b = binary.AppendUvarint(b, uint64(m.Imported))
	b = binary.AppendUvarint(b, uint64(m.Defined))
	b = binary.AppendUvarint(b, uint64(len(m.Data)))
	for _, s := range m.Data {
		b = binary.AppendUvarint(b, uint64(s.Offset))
		b = putString(b, s.Bytes)
	}
	return b
}

func putBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func putString[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = putString(b, s)
	}
	return b
}

// Decode is the inverse of [Module.Append]. The module refers to b, which must not be changed. Decode never panics, but
// b must come from a trusted process: it does not check the metered module again.
func Decode(b []byte) (*Module, error) {
	r := reader{rest: b}
	m := &Module{Digest: string(r.bytes()), Size: int(r.number())}
	if packed, manifest := r.bool(), r.bytes(); packed {
		m.Manifest = manifest
	}
	m.Exports = r.strings()
	m.noData = r.bool()
	m.Code = r.code()
	if r.short || len(r.rest) > 0 {
		return nil, errors.New("not a metered module")
	}
	return m, nil
}

// A reader reads values from the beginning of its rest, and zero values once it is too short.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) code() *meter.Module {
	m := &meter.Module{
		Binary: r.bytes(), Globals: r.strings(), Start: r.bool(),
		MinPages: uint32(r.number()), MaxPages: uint32(r.number()), CanDirty: string(r.bytes()),
		Imported: uint32(r.number()), Defined: uint32(r.number()),
	}
	n := r.count() // of a provider in Go some ten thousand
	m.Data = slices.Grow(m.Data, int(n))
	for ; n > 0; n-- {
		m.Data = append(m.Data, meter.Segment{Offset: uint32(r.number()), Bytes: r.bytes()})
	}
	return m
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.short = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count returns a number of items of at least one byte each.
func (r *reader) count() uint64 {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.rest, r.short = nil, true
		return 0
	}
	return n
}

func (r *reader) bytes() []byte {
	n := r.count()
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) bool() bool { return r.number() != 0 }

func (r *reader) strings() (list []string) {
	for n := r.count(); n > 0; n-- {
		list = append(list, string(r.bytes()))
	}
	return list
}
