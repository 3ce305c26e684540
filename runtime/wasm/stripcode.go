package wasm

import "crypto/sha256"

// originSection is the custom section of a module without code. It has the SHA-256 of the original, which distinguishes
// modules of the same shape.
const originSection = "origin"

// trapBody is a function that traps: no locals, unreachable, end. It is valid for every type.
var trapBody = []byte{3, 0, 0x00, 0x0b}

// HasNoCode reports whether a module is a result of [StripCode].
func HasNoCode(module []byte) bool {
	digest, err := Custom(module, originSection)
	return err == nil && len(digest) == sha256.Size
}

// StripCode returns a module with each function's code replaced by a trap: an engine needs no more of a module whose
// code it compiled before. Different modules have different results. Malformed parts other than the code stay as they
// are; a malformed code section is [ErrFormat].
func StripCode(module []byte) ([]byte, error) {
	digest := sha256.Sum256(module)
	stripped := AppendSection([]byte(header), SectionCustom, append(AppendName(nil, originSection), digest[:]...))
	for s, err := range Sections(module) {
		if err != nil {
			return nil, err
		}
		if s.ID != SectionCode {
			stripped = append(stripped, s.Raw...)
			continue
		}
		r := s.Reader()
		n := r.U32()
		if uint64(n) > uint64(r.Len()) {
			return nil, &FormatError{Offset: r.Offset(), Reason: "more functions than bytes"}
		}
		body := AppendU32(nil, n)
		for range n {
			body = append(body, trapBody...)
		}
		stripped = AppendSection(stripped, s.ID, body)
	}
	return stripped, nil
}
