package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// AppendString appends s as a JSON string, quotes included. What is not UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := cleanPrefix([]byte(s)) // the compiler makes no copy
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		if s[n] >= utf8.RuneSelf {
			dst = append(dst, "\ufffd"...)
		} else {
			dst = appendEscape(dst, s[n])
		}
		s = s[n+1:]
	}
}

// AppendText appends p as the inside of a JSON string, without quotes. If p is not UTF-8 throughout, ok is false and
// what was appended is of no use.
func AppendText(dst, p []byte) (out []byte, ok bool) {
	for {
		n := cleanPrefix(p)
		dst = append(dst, p[:n]...)
		if n == len(p) {
			return dst, true
		}
		if p[n] >= utf8.RuneSelf {
			return dst, false
		}
		dst = appendEscape(dst, p[n])
		p = p[n+1:]
	}
}

// A Text encodes one text that arrives in pieces, which may end inside a rune. The zero Text is ready for use.
type Text struct {
	carry [utf8.UTFMax]byte // the start of a rune
	n     int               // bytes of carry
}

// Append appends the next piece, as [AppendText] does. After ok is false the Text is of no use.
func (t *Text) Append(dst, p []byte) (out []byte, ok bool) {
	for t.n > 0 && len(p) > 0 {
		t.carry[t.n] = p[0]
		t.n, p = t.n+1, p[1:]
		if !utf8.FullRune(t.carry[:t.n]) {
			continue
		}
		if !utf8.Valid(t.carry[:t.n]) {
			return dst, false
		}
		dst = append(dst, t.carry[:t.n]...)
		t.n = 0
	}
	whole := len(p) - partialRune(p)
	t.n += copy(t.carry[t.n:], p[whole:])
	return AppendText(dst, p[:whole])
}

// End reports whether the text was whole, and makes the Text ready for another.
func (t *Text) End() (ok bool) {
	ok = t.n == 0
	*t = Text{}
	return ok
}

// partialRune gives the length of what may be the start of a rune at the end of p.
func partialRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if tail[0] >= utf8.RuneSelf && !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

// cleanPrefix gives the length of the longest prefix of p that may stand in a JSON string as it is. The byte after it
// wants an escape if it is ASCII, and does not begin a rune otherwise. This is the seam for a faster scan.
func cleanPrefix(p []byte) int {
	i := 0
	for {
		for len(p)-i >= 8 && plain8(binary.LittleEndian.Uint64(p[i:])) {
			i += 8
		}
		for i < len(p) && plain[p[i]] {
			i++
		}
		if i == len(p) || p[i] < utf8.RuneSelf {
			return i
		}
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// plain8 reports whether eight bytes are ASCII without control characters, quotation marks and backslashes.
func plain8(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	odd := w | (w - ones*' ') | (quote - ones) | (slash - ones)
	return odd&tops == 0
}

// plain holds the ASCII characters that need no escape.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendEscape appends the shortest escape of an ASCII character.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
