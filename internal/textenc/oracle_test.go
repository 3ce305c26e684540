package textenc_test

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/textenc"
)

// encoders are the ways a text is encoded, of which a processor takes one.
var encoders = []struct {
	name string
	text func(dst, p []byte) ([]byte, bool)
	str  func(dst []byte, s string) []byte
}{
	{"as here", textenc.AppendText, textenc.AppendString},
	{"by words", textenc.AppendTextByWords, textenc.AppendStringByWords},
}

// scalar is the inside of a JSON string as AppendString is to give it, and whether p is UTF-8.
func scalar(p []byte) (out []byte, ok bool) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	ok = true
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		switch e := short[r]; {
		case r == utf8.RuneError && size == 1:
			out, ok = append(out, "\ufffd"...), false
		case e != "":
			out = append(out, e...)
		case r < ' ':
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, p[:size]...)
		}
		p = p[size:]
	}
	return out, ok
}

const canary = 0xa5

// An arena is a buffer with canaries on both sides, and in all bytes not written yet.
type arena struct {
	all   []byte
	start int
	dst   []byte // what an encoder is given: length 3, room for as many bytes as was said
}

func newArena(offset, room int) *arena {
	a := &arena{all: bytes.Repeat([]byte{canary}, offset+3+room+256), start: offset}
	a.dst = a.all[offset : offset+3 : offset+3+room]
	return a
}

// check says whether out is the beginning of dst and then want, and whether anything else was written to. If out is
// elsewhere, all of dst may have been.
func (a *arena) check(t *testing.T, name string, out, want []byte) {
	t.Helper()
	if !bytes.Equal(out[:3], []byte{canary, canary, canary}) || !bytes.Equal(out[3:], want) {
		t.Fatalf("%s: got %q, want %q", name, out[3:], want)
	}
	end := a.start + cap(a.dst)
	if &out[0] == &a.dst[0] {
		end = a.start + len(out)
	} else if cap(a.dst) >= len(out) {
		t.Fatalf("%s: moved, with room for %d bytes, to write %d", name, cap(a.dst), len(out))
	}
	a.untouched(t, name, end)
}

// untouched checks what is around dst up to end.
func (a *arena) untouched(t *testing.T, name string, end int) {
	t.Helper()
	for _, side := range [][]byte{a.all[:a.start], a.all[end:]} {
		if n := len(side) - bytes.Count(side, []byte{canary}); n > 0 {
			t.Fatalf("%s: %d bytes were written outside", name, n)
		}
	}
}
