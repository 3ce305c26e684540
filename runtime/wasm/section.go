package wasm

import (
	"errors"
	"fmt"
	"iter"
)

// header is the magic number and the version of a core module.
const header = "\x00asm\x01\x00\x00\x00"

// componentHeader begins a component, which is not a core module.
const componentHeader = "\x00asm\x0d\x00\x01\x00"

// Ids of sections.
const (
	SectionCustom    byte = 0
	SectionType      byte = 1
	SectionImport    byte = 2
	SectionFunction  byte = 3
	SectionTable     byte = 4
	SectionMemory    byte = 5
	SectionGlobal    byte = 6
	SectionExport    byte = 7
	SectionStart     byte = 8
	SectionElement   byte = 9
	SectionCode      byte = 10
	SectionData      byte = 11
	SectionDataCount byte = 12 // placed between the elements and the code
)

// ErrFormat says that bytes are not a core WebAssembly module.
var ErrFormat = errors.New("not a WebAssembly module")

// A Section is one section of a module. Body and Raw are views of the module.
type Section struct {
	ID   byte
	Body []byte
	Raw  []byte // id, length and body

	reader Reader
}

// Reader returns a reader of Body that counts offsets from the start of the module.
func (s Section) Reader() *Reader { return &s.reader }

// Sections yields the sections of a module in order. It ends with an error, wrapping [ErrFormat], at the first that is
// malformed.
func Sections(module []byte) iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		if err := checkHeader(module); err != nil {
			yield(Section{}, err)
			return
		}
		r := Reader{b: module, at: len(header)}
		for r.Len() > 0 {
			at := r.at
			id, size := r.Byte(), r.U32()
			body := r.Part(size)
			if r.err != nil {
				yield(Section{}, &FormatError{Offset: at, Reason: "section is longer than the module"})
				return
			}
			if !yield(Section{ID: id, Body: module[body.at:r.at:r.at], Raw: module[at:r.at:r.at], reader: body}, nil) {
				return
			}
		}
	}
}

func checkHeader(module []byte) error {
	switch {
	case len(module) < len(header):
		return fmt.Errorf("%w: only %d bytes", ErrFormat, len(module))
	case string(module[:len(header)]) == componentHeader:
		return fmt.Errorf("%w: this is a component; a core module is needed", ErrFormat)
	case string(module[:len(header)]) != header:
		return fmt.Errorf("%w: it does not begin with \\0asm version 1", ErrFormat)
	}
	return nil
}

// Custom returns the content of the first custom section with this name, a view of module, or nil when there is none.
func Custom(module []byte, name string) ([]byte, error) {
	for s, err := range Sections(module) {
		if err != nil {
			return nil, err
		}
		if content, ok := s.custom(name); ok {
			return content, nil
		}
	}
	return nil, nil
}

// WithCustom returns a copy of module that has exactly one custom section with this name, placed first so that it is
// found without reading the rest.
func WithCustom(module []byte, name string, content []byte) ([]byte, error) {
	body := append(AppendName(nil, name), content...)
	out := append(make([]byte, 0, len(module)+len(body)+16), header...)
	out = AppendSection(out, SectionCustom, body)
	for s, err := range Sections(module) {
		if err != nil {
			return nil, err
		}
		if _, same := s.custom(name); !same {
			out = append(out, s.Raw...)
		}
	}
	return out, nil
}

func (s Section) custom(name string) (content []byte, ok bool) {
	if s.ID != SectionCustom {
		return nil, false
	}
	r := s.Reader()
	got := r.Bytes(r.U32())
	if r.err != nil || string(got) != name {
		return nil, false
	}
	return r.Bytes(uint32(r.Len())), true
}
