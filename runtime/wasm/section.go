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

// idCustom is the id of a custom section.
const idCustom = 0

// ErrFormat says that bytes are not a core WebAssembly module.
var ErrFormat = errors.New("not a WebAssembly module")

// A Section is one section of a module. Body and Raw are views of the module.
type Section struct {
	ID   byte
	Body []byte
	Raw  []byte // id, length and body
}

// Sections yields the sections of a module in order. It ends with an error, wrapping [ErrFormat], at the first that is
// malformed.
func Sections(module []byte) iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		if err := checkHeader(module); err != nil {
			yield(Section{}, err)
			return
		}
		for at := len(header); at < len(module); {
			size, n := uleb32(module[at+1:])
			start := at + 1 + n
			if n == 0 || uint64(size) > uint64(len(module)-start) {
				yield(Section{}, fmt.Errorf("%w: section at byte %d is longer than the module", ErrFormat, at))
				return
			}
			end := start + int(size)
			if !yield(Section{ID: module[at], Body: module[start:end:end], Raw: module[at:end:end]}, nil) {
				return
			}
			at = end
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

// Custom gives the content of the first custom section with this name, a view of module, or nil when there is none.
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

// WithCustom gives a copy of module that has exactly one custom section with this name, placed first so that it is
// found without reading the rest.
func WithCustom(module []byte, name string, content []byte) ([]byte, error) {
	body := appendULEB32(nil, uint32(len(name)))
	body = append(append(body, name...), content...)
	out := append(make([]byte, 0, len(module)+len(body)+16), header...)
	out = appendULEB32(append(out, idCustom), uint32(len(body)))
	out = append(out, body...)
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
	if s.ID != idCustom {
		return nil, false
	}
	size, n := uleb32(s.Body)
	if n == 0 || uint64(size) > uint64(len(s.Body)-n) || string(s.Body[n:n+int(size)]) != name {
		return nil, false
	}
	return s.Body[n+int(size):], true
}

// uleb32 reads an unsigned 32-bit LEB128 number and says how many bytes it took; 0 means malformed.
func uleb32(b []byte) (v uint32, n int) {
	for i := 0; i < len(b) && i < 5; i++ {
		c := b[i]
		if i == 4 && c > 0x0f {
			return 0, 0
		}
		v |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

func appendULEB32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
