package textenc_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"syscall"
	"testing"

	"github.com/wasmres/wasmres/internal/textenc"
)

// beforeNothing returns size bytes of memory with none behind them, as a guest's may be.
func beforeNothing(t *testing.T, size int) []byte {
	t.Helper()
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	if err := syscall.Mprotect(b[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return b[:size:size]
}

func TestEscapersStayWithin(t *testing.T) {
	for name, e := range textenc.Escapers {
		t.Run(name, func(t *testing.T) {
			src, dst := beforeNothing(t, 4<<10), beforeNothing(t, 4<<10)
			for _, kind := range []string{"\x01", "\n", "a", "a\"", "0123456789\x02abcdef"} {
				copy(src, bytes.Repeat([]byte(kind), len(src)))
				for room := range 300 {
					for _, input := range []int{0, 1, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 95, 96, 97, 130} {
						within(t, e, dst[len(dst)-room:], src[len(src)-input:])
					}
				}
			}
		})
	}
}

// within lets an escaper write to dst, which ends with memory, and checks that it goes as far as it can, and spoils
// nothing beyond what the rest of src will take.
func within(t *testing.T, e textenc.Escaper, dst, src []byte) {
	t.Helper()
	for i := range dst {
		dst[i] = canary
	}
	wrote, read := e.Escape(dst, src)
	room, left := len(dst)-wrote, len(src)-read
	if want, _ := scalar(src[:read]); !bytes.Equal(dst[:wrote], want) {
		t.Fatalf("got %q of %q, want %q", dst[:wrote], src[:read], want)
	}
	if left >= e.Input && room >= e.Room {
		t.Fatalf("%d of %d bytes are left, with room for %d", left, len(src), room)
	}
	if beyond := dst[min(wrote+left, len(dst)):]; bytes.Count(beyond, []byte{canary}) != len(beyond) {
		t.Fatalf("with %d bytes left, got %q behind what was written", left, dst[wrote:])
	}
}

func TestNothingIsReadOrWrittenBehindTheEnd(t *testing.T) {
	const size = 64 << 10
	src, dst := beforeNothing(t, size), beforeNothing(t, 2*size)
	copy(src, bytes.Repeat([]byte("日本語 \"text\"\n of 2 lines"), size))
	copy(src[size-4:], "abc\n") // the rune it falls upon is whole before it
	for n := range 300 {
		p := bytes.TrimLeftFunc(src[size-n:], func(r rune) bool { return r == '\ufffd' })
		want, _ := scalar(p)
		for _, e := range encoders {
			at := len(dst) - len(want)
			if got, ok := e.text(dst[at:at], p); !ok || !bytes.Equal(got, want) {
				t.Fatalf("%s: got %q, %v, want %q", e.name, got, ok, want)
			}
		}
		if got, ok := textenc.AppendText(dst[:0], p); !ok || !bytes.Equal(got, want) {
			t.Fatalf("got %q, %v where there is room, want %q", got, ok, want)
		}
		at := len(dst) - textenc.Base64Len(n)
		var b textenc.Base64
		if got := b.End(b.Append(dst[at:at], src[size-n:])); string(got) != base64.StdEncoding.EncodeToString(src[size-n:]) {
			t.Fatalf("got %q as base64 of %d bytes", got, n)
		}
	}
}
