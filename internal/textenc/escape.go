package textenc

import (
	"encoding/binary"
	"slices"
)

// Both escapers copy a whole unit, a block or a word, and then mend it: at each byte that wants an escape they write
// the escape, and copy what follows once more behind it. So they write up to a unit more than they have encoded. They
// need room for a unit that is all escapes, and that; and a unit of input beyond the one they are at, so that what is
// left of the text takes at least the bytes that were too many.
const (
	wordBytes  = 8
	wordInput  = 2 * wordBytes
	wordRoom   = 6*wordBytes + wordBytes
	blockBytes = 32
	blockInput = 2 * blockBytes
	blockRoom  = 6*blockBytes + blockBytes
)

// escapeMost appends the escaped form of p[:checked], which is UTF-8, but for the end of it, which is short, and says
// how far it came. The room it makes, if it must, is for all of p. When it returns there is as much room as p has left.
func escapeMost(dst, p []byte, checked int, blocks bool) (out []byte, read int) {
	for {
		if left := len(p) - read; cap(dst)-len(dst) < left {
			dst = slices.Grow(dst, left+left/8+blockRoom)
		}
		var w, r int
		if room := dst[len(dst):cap(dst)]; blocks {
			w, r = escapeBlocks(room, p[read:checked])
		} else {
			w, r = escapeWords(room, p[read:checked])
		}
		dst, read = dst[:len(dst)+w], read+r
		if cap(dst)-len(dst) >= len(p)-read {
			return dst, read
		}
	}
}

// escapeRest appends the escaped form of p, which is UTF-8 and short. It writes nothing beyond it.
func escapeRest(dst, p []byte) []byte {
	wrote, read := escapeWords(dst[len(dst):cap(dst)], p)
	dst = dst[:len(dst)+wrote]
	for _, c := range p[read:] {
		if escapes[c] == 0 {
			dst = append(dst, c)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

// escapes holds for each byte that wants an escape its characters, the first in the lowest bits, and in the highest
// eight bits how many they are beyond one. For other bytes it holds zero. The assembly reads it too.
var escapes = func() (t [256]uint64) {
	for c := range t {
		if c < ' ' || c == '"' || c == '\\' {
			var b [8]byte
			b[7] = byte(len(appendEscape(b[:0], byte(c))) - 1)
			t[c] = binary.LittleEndian.Uint64(b[:])
		}
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
