package textenc

import (
	"encoding/binary"
	"slices"
)

// Both escapers copy a whole unit, a block or a word, and then mend it: at each byte that needs an escape they write
// the escape, and copy the rest again after it. So they write up to a unit more than they have encoded. They need room
// for that, and for a unit of escapes only. They also need a unit of input beyond the present one, so that the output
// of the remaining text covers the surplus bytes.
const (
	wordBytes  = 8
	wordInput  = 2 * wordBytes
	wordRoom   = 6*wordBytes + wordBytes
	blockBytes = 32
	blockInput = 2 * blockBytes
	blockRoom  = 6*blockBytes + blockBytes
)

// escapeMost appends the escaped form of p[:checked], which is UTF-8, except for its short end, and returns how many
// bytes it has read. If it must grow out, it makes room for all of p. When it returns, out has room for the rest of p.
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

// escapeRest appends the escaped form of p, which is UTF-8 and short. It does not write beyond that.
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

// escapes has the escape of each byte that needs one: its characters, the first in the lowest bits, and in the highest
// eight bits their number minus one. It has zero for other bytes. The assembly reads it too.
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
