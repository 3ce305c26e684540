package uritemplate

import (
	"strings"
	"unicode/utf8"
)

// A symbol is one character of a URI in normal form: a Unicode character, or
// escaped+b for an octet that has to stay escaped, or broken+b for a byte that
// is no character at all.
type symbol uint32

const (
	escaped symbol = 0x110000
	broken  symbol = 0x110100
)

// symbols returns s in normal form: escaped unreserved and non-ASCII
// characters as themselves, everything else as it is.
func symbols(s string) []symbol {
	text := make([]symbol, 0, len(s))
	for i := 0; i < len(s); {
		next, size := decode(s[i:])
		text = append(text, next)
		i += size
	}
	return text
}

// decode returns the first symbol of s and how many bytes it takes.
func decode(s string) (symbol, int) {
	if s[0] == '%' {
		return decodeEscape(s)
	}
	if s[0] < utf8.RuneSelf {
		return symbol(s[0]), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return broken + symbol(s[0]), 1
	}
	return symbol(r), size
}

// decodeEscape is decode for an s that begins with a percent sign.
func decodeEscape(s string) (symbol, int) {
	b, ok := escape(s)
	if !ok {
		return broken + '%', 1
	}
	if b < utf8.RuneSelf {
		if isUnreserved(b) {
			return symbol(b), 3
		}
		return escaped + symbol(b), 3
	}
	octets := append(make([]byte, 0, utf8.UTFMax), b)
	for len(octets) < utf8.UTFMax {
		b, ok := escape(s[3*len(octets):])
		if !ok {
			break
		}
		octets = append(octets, b)
	}
	if r, size := utf8.DecodeRune(octets); size > 1 {
		return symbol(r), 3 * size
	}
	return escaped + symbol(b), 3
}

// escape returns the octet that s begins with as %XX.
func escape(s string) (b byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, s[1]|0x20), strings.IndexByte(hexDigits, s[2]|0x20)
	if high < 0 || low < 0 || s[1] < '0' || s[2] < '0' {
		return 0, false
	}
	return byte(high<<4 | low), true
}

const hexDigits = "0123456789abcdef"

// appendText appends text as UTF-8, with what stays escaped as %xx: the form in
// which the names of variables are compared.
func appendText(dst []byte, text []symbol) []byte {
	for _, s := range text {
		if s < escaped {
			dst = utf8.AppendRune(dst, rune(s))
			continue
		}
		b := byte(s)
		dst = append(dst, '%', hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isAlphanumeric(b byte) bool {
	return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'z'
}

func isUnreserved(b byte) bool {
	return isAlphanumeric(b) || b == '-' || b == '.' || b == '_' || b == '~'
}

// isKey reports whether s can be part of a variable's name in normal form.
func isKey(s symbol) bool {
	if s >= utf8.RuneSelf {
		return s < broken
	}
	return isUnreserved(byte(s))
}

// A class is a set of symbols: some of ASCII and, if rest is set, everything
// non-ASCII or escaped that may be part of a value, which leaves out control
// characters and what is not UTF-8.
type class struct {
	ascii [2]uint64
	rest  bool
}

// unreserved is what a simple value may hold; reservedChars is what a reserved
// one may hold as well (RFC 3986 section 2).
var unreserved = class{rest: true}.with("-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

// queryChars are what people leave as they are in a query, where they mean nothing.
const queryChars = "/:@"

const reservedChars = ":/?#[]@!$&'()*+,;="

func (c class) with(chars string) class {
	for _, b := range []byte(chars) {
		c.ascii[b>>6] |= 1 << (b & 63)
	}
	return c
}

func (c class) without(b byte) class {
	c.ascii[b>>6] &^= 1 << (b & 63)
	return c
}

func (c *class) has(s symbol) bool {
	switch {
	case s < utf8.RuneSelf:
		return c.ascii[s>>6]>>(s&63)&1 != 0
	case s < escaped:
		return c.rest && s > 0x9f
	case s < broken:
		return c.rest && s-escaped >= 0x20 && s-escaped < 0x7f
	}
	return false
}
