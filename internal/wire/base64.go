package wire

import "encoding/base64"

// A Base64 encodes one sequence of bytes that arrives in pieces. The zero Base64 is ready for use.
type Base64 struct {
	carry [3]byte // what does not fill a group of three yet
	n     int     // bytes of carry; at most two between calls
}

// Append appends the encoding of the next piece, as far as it fills whole groups.
func (b *Base64) Append(dst, p []byte) []byte {
	if b.n > 0 {
		n := copy(b.carry[b.n:], p)
		b.n, p = b.n+n, p[n:]
		if b.n < len(b.carry) {
			return dst
		}
		dst = base64.StdEncoding.AppendEncode(dst, b.carry[:])
	}
	whole := len(p) / 3 * 3
	b.n = copy(b.carry[:], p[whole:])
	return base64.StdEncoding.AppendEncode(dst, p[:whole])
}

// End appends what is left with its padding, and makes the Base64 ready for another sequence.
func (b *Base64) End(dst []byte) []byte {
	dst = base64.StdEncoding.AppendEncode(dst, b.carry[:b.n])
	*b = Base64{}
	return dst
}
