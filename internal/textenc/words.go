package textenc

import (
	"encoding/binary"
	"math/bits"
)

// escapeWords writes the escaped form of src to dst for as long as src has wordInput and dst has wordRoom bytes left.
func escapeWords(dst, src []byte) (wrote, read int) {
	for len(src)-read >= wordInput && len(dst)-wrote >= wordRoom {
		in, out := src[read:], dst[wrote:wrote+wordRoom]
		w, next := binary.LittleEndian.Uint64(in), binary.LittleEndian.Uint64(in[wordBytes:])
		binary.LittleEndian.PutUint64(out, w)
		binary.LittleEndian.PutUint64(out[wordBytes:], next)
		if (below(w)&^w|below(next)&^next)&tops == 0 {
			wrote, read = wrote+2*wordBytes, read+2*wordBytes
			continue
		}
		wrote += mendWord(out, in, escaped(w)) + wordBytes
		read += wordBytes
	}
	return wrote, read
}

// mendWord escapes the marked bytes of the word at the beginning of src, which out has already at its beginning, and
// returns by how many bytes out has become longer.
func mendWord(out, src []byte, marks uint64) (longer int) {
	for ; marks != 0; marks &= marks - 1 {
		at := bits.TrailingZeros64(marks) / 8
		e := escapes[src[at]]
		binary.LittleEndian.PutUint64(out[longer+at:], e)
		longer += int(e >> 56)
		binary.LittleEndian.PutUint64(out[longer+at+1:], binary.LittleEndian.Uint64(src[at+1:]))
	}
	return longer
}

const ones, tops = 0x0101010101010101, 0x8080808080808080

// below sets the top bit of the first byte of w that is a control character, a quotation mark or a backslash. The bits
// of later bytes, and of those that are not ASCII, are undefined.
func below(w uint64) uint64 {
	return (w - ones*' ') | (w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones)
}

// escaped sets the top bit of each byte that is a control character, a quotation mark or a backslash, and no other.
func escaped(w uint64) uint64 {
	low := w &^ tops
	stands := (low + ones*(0x80-' ')) & (low ^ ones*'"' + ones*0x7f) & (low ^ ones*'\\' + ones*0x7f)
	return ^(stands | w) & tops
}
