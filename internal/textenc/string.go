package textenc

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

// shortString is the length in bytes from which the encoder of texts is faster.
const shortString = 128

// AppendString appends s as a JSON string, quotes included. Each byte that is not UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	return appendString(dst, s, hasBlocks)
}

func appendString(dst []byte, s string, blocks bool) []byte {
	dst = append(dst, '"')
	if len(s) >= shortString {
		p := unsafe.Slice(unsafe.StringData(s), len(s)) // only read
		if out, ok := appendText(dst, p, blocks); ok {
			return append(out, '"')
		}
	}
	return append(appendMended(dst, s), '"')
}

// appendMended appends the inside of a JSON string, from one byte that needs a change to the next.
func appendMended(dst []byte, s string) []byte {
	for {
		n := cleanPrefix([]byte(s)) // the compiler makes no copy
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		if s[n] >= utf8.RuneSelf {
			dst = append(dst, "\ufffd"...)
		} else {
			dst = appendEscape(dst, s[n])
		}
		s = s[n+1:]
	}
}

// cleanPrefix returns the length of the longest prefix of p that may stand in a JSON string unchanged. The byte after
// it needs an escape if it is ASCII, and does not begin a rune otherwise.
func cleanPrefix(p []byte) int {
	i := plainWords(p)
	if len(p)-i < 8 && i > 0 && plain8(binary.LittleEndian.Uint64(p[len(p)-8:])) {
		return len(p) // the usual case
	}
	for {
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
		i += plainWords(p[i:])
	}
}

// plainWords returns the length of the words at the beginning of p that are plain throughout.
func plainWords(p []byte) (n int) {
	for len(p)-n >= 8 && plain8(binary.LittleEndian.Uint64(p[n:])) {
		n += 8
	}
	return n
}

// plain8 reports whether eight bytes are ASCII without control characters, quotation marks and backslashes.
func plain8(w uint64) bool {
	return (w|below(w))&tops == 0
}

// plain holds the ASCII characters that need no escape.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
