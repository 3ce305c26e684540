package textenc

import (
	stdbase64 "encoding/base64"
	"slices"

	"github.com/segmentio/asm/base64"
)

// stretch is how many bytes are encoded at once, whole groups: the encoder cannot be interrupted, and would delay the
// garbage collector.
const stretch = 96 << 10

// fewBytes is the length up to which the encoder without preparation is faster.
const fewBytes = 384

// Base64Len returns the length of the encoding of n bytes, padding included.
func Base64Len(n int) int { return (n + 2) / 3 * 4 }

// A Base64 encodes one sequence of bytes that arrives in pieces. The zero Base64 is ready for use.
type Base64 struct {
	carry [3]byte // bytes that do not fill a group of three yet
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
		dst = stdbase64.StdEncoding.AppendEncode(dst, b.carry[:])
	}
	whole := len(p) / 3 * 3
	b.n = copy(b.carry[:], p[whole:])
	return appendGroups(dst, p[:whole])
}

// End appends the remaining bytes with padding, and makes the Base64 ready for another sequence.
func (b *Base64) End(dst []byte) []byte {
	dst = stdbase64.StdEncoding.AppendEncode(dst, b.carry[:b.n])
	*b = Base64{}
	return dst
}

// appendGroups appends the encoding of whole groups of three. The encoder does not check the length of its output, and
// writes no more than it must.
func appendGroups(dst, p []byte) []byte {
	if len(p) <= fewBytes {
		return stdbase64.StdEncoding.AppendEncode(dst, p)
	}
	at := len(dst)
	dst = slices.Grow(dst, Base64Len(len(p)))[:at+Base64Len(len(p))]
	for len(p) > 0 {
		n := min(len(p), stretch)
		base64.StdEncoding.Encode(dst[at:at+Base64Len(n)], p[:n])
		p, at = p[n:], at+Base64Len(n)
	}
	return dst
}
