package wasm

import "crypto/sha256"

// hollowSection is the custom section of a hollow module that tells it from those of the same shape: the SHA-256 of the
// module it was made of.
const hollowSection = "hollow"

// hollowBody is a function that traps: no locals, unreachable, end. It is valid for every type.
var hollowBody = []byte{3, 0, 0x00, 0x0b}

// IsHollow reports whether a module is what [Hollow] makes.
func IsHollow(module []byte) bool {
	digest, err := Custom(module, hollowSection)
	return err == nil && len(digest) == sha256.Size
}

// Hollow gives a module with each function's code replaced by a trap: all that an engine wants to know of a module
// whose code it compiled before. Different modules have different hollow ones. What is malformed, the code aside, stays
// so; a code section that cannot be counted is [ErrFormat].
func Hollow(module []byte) ([]byte, error) {
	digest := sha256.Sum256(module)
	hollow := AppendSection([]byte(header), SectionCustom, append(AppendName(nil, hollowSection), digest[:]...))
	for s, err := range Sections(module) {
		if err != nil {
			return nil, err
		}
		if s.ID != SectionCode {
			hollow = append(hollow, s.Raw...)
			continue
		}
		r := s.Reader()
		n := r.U32()
		if uint64(n) > uint64(r.Len()) {
			return nil, &FormatError{Offset: r.Offset(), Reason: "more functions than bytes"}
		}
		body := AppendU32(nil, n)
		for range n {
			body = append(body, hollowBody...)
		}
		hollow = AppendSection(hollow, s.ID, body)
	}
	return hollow, nil
}
