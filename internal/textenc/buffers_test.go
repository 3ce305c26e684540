package textenc_test

import (
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/textenc"
)

// same reports whether two buffers are one.
func same(a, b []byte) bool { return &a[:1][0] == &b[:1][0] }

func TestBuffersHaveRoom(t *testing.T) {
	var buffers textenc.Buffers
	for _, n := range []int{-1, 0, 1, textenc.MinBuffer, textenc.MinBuffer + 1, 5000, textenc.MaxBuffer, textenc.MaxBuffer + 1} {
		for range 2 {
			p := buffers.Take(n)
			if len(p) != 0 || cap(p) < n || cap(p) == 0 {
				t.Errorf("Take(%d): got length %d and capacity %d", n, len(p), cap(p))
			}
			buffers.Give(append(p, "used"...))
		}
	}
}

func TestBuffersAreUsedAgain(t *testing.T) {
	tests := []struct {
		name       string
		size, take int
		want       bool
	}{
		{"of the size", 8 << 10, 8 << 10, true},
		{"a little larger than a size", 9000, 8 << 10, true},
		{"not large enough", 9000, 9000, false},
		{"for less", 8 << 10, 4<<10 + 1, true},
		{"far too large", 64 << 10, 4 << 10, false},
		{"too small to keep", textenc.MinBuffer - 1, 1, false},
		{"the largest", textenc.MaxBuffer, textenc.MaxBuffer, true},
		{"too large to keep", textenc.MaxBuffer + 1, textenc.MaxBuffer, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var buffers textenc.Buffers
			p := make([]byte, 3, tt.size)
			buffers.Give(p)
			if got := same(buffers.Take(tt.take), p); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestBuffersKeepNoMoreThanTheyMay(t *testing.T) {
	kept := func(buffers *textenc.Buffers, given ...[]byte) (n int) {
		for range given {
			p := buffers.Take(textenc.MinBuffer)
			for _, g := range given {
				if same(p, g) {
					n++
				}
			}
		}
		return n
	}
	for _, tt := range []struct{ keep, want int }{{2 * textenc.MinBuffer, 2}, {3*textenc.MinBuffer - 1, 2}, {-1, 0}, {0, 4}} {
		buffers := &textenc.Buffers{Keep: tt.keep}
		given := make([][]byte, 4)
		for i := range given {
			given[i] = make([]byte, 0, textenc.MinBuffer)
			buffers.Give(given[i])
		}
		if got := kept(buffers, given...); got != tt.want {
			t.Errorf("Keep %d: got %d kept, want %d", tt.keep, got, tt.want)
		}
		buffers.Give(given[0])
		buffers.Trim()
		if got := kept(buffers, given[0]); got != 0 {
			t.Errorf("Keep %d: got %d kept after Trim, want none", tt.keep, got)
		}
	}
}

func TestWhatIsTakenIsNotCountedAsKept(t *testing.T) {
	buffers := textenc.Buffers{Keep: textenc.MinBuffer}
	p := buffers.Take(1)
	for range 3 {
		buffers.Give(p)
		if !same(buffers.Take(1), p) {
			t.Fatal("the buffer was not kept")
		}
	}
}

func TestBuffersGrow(t *testing.T) {
	var buffers textenc.Buffers
	p := append(buffers.Take(1), "text"...)
	if q := buffers.Grow(p, 10); !same(p, q) {
		t.Error("a buffer with room was changed for another")
	}
	q := buffers.Grow(p, textenc.MinBuffer)
	if string(q) != "text" || cap(q)-len(q) < textenc.MinBuffer {
		t.Errorf("got %q and room for %d bytes", q, cap(q)-len(q))
	}
	if !same(buffers.Take(1), p) {
		t.Error("the old buffer was not given back")
	}
}

func TestBuffersHaveOneOwner(t *testing.T) {
	buffers := &textenc.Buffers{Keep: 64 << 10}
	var wg sync.WaitGroup
	for id := range byte(8) {
		wg.Go(func() {
			for n := range 1000 {
				p := buffers.Take(n * 16)
				p = p[:cap(p)]
				p[0], p[len(p)-1] = id, id
				if p[0] != id || p[len(p)-1] != id {
					t.Error("two have one buffer")
				}
				buffers.Give(p)
			}
		})
	}
	wg.Wait()
}
