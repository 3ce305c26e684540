package textenc

import (
	stdutf8 "unicode/utf8"

	"github.com/segmentio/asm/utf8"
)

// chunk is how many bytes of a text are checked and then escaped at a time: they stay in the processor's nearest cache
// between the two.
const chunk = 8 << 10

// AppendText appends p as the inside of a JSON string, without quotes. If p is not UTF-8, ok is false and the appended
// bytes are invalid. p must not change meanwhile, since it is read twice.
func AppendText(dst, p []byte) (out []byte, ok bool) {
	return appendText(dst, p, hasBlocks)
}

func appendText(dst, p []byte, blocks bool) (out []byte, ok bool) {
	checked := 0 // bytes at the start of p that are known to be UTF-8
	for checked < len(p) {
		next := p[checked:]
		if len(next) > chunk {
			next = next[:chunk-partialRune(next[:chunk])]
		}
		if !utf8.Valid(next) {
			return dst, false
		}
		checked += len(next)
		var read int
		dst, read = escapeMost(dst, p, checked, blocks)
		p, checked = p[read:], checked-read
	}
	return escapeRest(dst, p), true
}

// A Text encodes one text that arrives in pieces, which may end inside a rune. The zero Text is ready.
type Text struct {
	carry [stdutf8.UTFMax]byte // the start of a rune
	n     int                  // bytes of carry
}

// Append appends the next piece, as [AppendText] does. After ok is false the Text must not be used again.
func (t *Text) Append(dst, p []byte) (out []byte, ok bool) {
	for t.n > 0 && len(p) > 0 {
		t.carry[t.n] = p[0]
		t.n, p = t.n+1, p[1:]
		if !stdutf8.FullRune(t.carry[:t.n]) {
			continue
		}
		if !stdutf8.Valid(t.carry[:t.n]) {
			return dst, false
		}
		dst = append(dst, t.carry[:t.n]...)
		t.n = 0
	}
	whole := len(p) - partialRune(p)
	t.n += copy(t.carry[t.n:], p[whole:])
	return AppendText(dst, p[:whole])
}

// End reports whether the text ended with a whole rune, and makes the Text ready for another.
func (t *Text) End() (ok bool) {
	ok = t.n == 0
	*t = Text{}
	return ok
}

// partialRune returns the length of a possible beginning of a rune at the end of p.
func partialRune(p []byte) int {
	for n := 1; n < stdutf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; stdutf8.RuneStart(tail[0]) {
			if tail[0] >= stdutf8.RuneSelf && !stdutf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}
