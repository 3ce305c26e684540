package textenc

import (
	"math/bits"
	"sync"
)

const (
	// DefaultKeep is how many bytes of unused buffers are kept by default.
	DefaultKeep = 16 << 20
	// MinBuffer is the capacity of the smallest buffer, in bytes.
	MinBuffer = 4 << 10
	// MaxBuffer is the capacity of the largest buffer that is kept for another use, in bytes.
	MaxBuffer = 4 << 20
)

// minClass and maxClass are the sizes of buffers, as powers of two: 1<<minClass is MinBuffer, 1<<maxClass MaxBuffer.
const minClass, maxClass = 12, 22

// Buffers keeps output buffers between uses. It may be used by any number of goroutines. The zero Buffers is ready for
// use, and keeps DefaultKeep bytes.
type Buffers struct {
	// Keep is how many bytes of unused buffers are kept at most; 0 means DefaultKeep, and less keeps none. It is set
	// before the first use.
	Keep int

	mu   sync.Mutex
	free [maxClass - minClass + 1][][]byte // by the power of two a buffer has room for; the last one is the warmest
	kept int                               // bytes of what is free
}

// Take returns a buffer of length zero with room for n bytes or more. What lies beyond its length is from uses before,
// of anybody: it is to be written before it is read. The caller may keep the buffer, or [Buffers.Give] it back.
func (b *Buffers) Take(n int) []byte {
	if n > MaxBuffer {
		return make([]byte, 0, n)
	}
	class := max(bits.Len(uint(max(n, 1)-1)), minClass)
	if p := b.pop(class); p != nil {
		return p
	}
	return make([]byte, 0, 1<<class)
}

// pop returns the last free buffer of a class, or nil.
func (b *Buffers) pop(class int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := &b.free[class-minClass]
	last := len(*list) - 1
	if last < 0 {
		return nil
	}
	p := (*list)[last]
	(*list)[last] = nil
	*list = (*list)[:last]
	b.kept -= cap(p)
	return p
}

// Give takes a buffer that is no longer in use, whether it is from Take, has grown since, or is from elsewhere. It is kept
// unless it is smaller than MinBuffer, larger than MaxBuffer, or one too many.
func (b *Buffers) Give(p []byte) {
	size := cap(p)
	if size < MinBuffer || size > MaxBuffer {
		return
	}
	class := bits.Len(uint(size)) - 1
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept+size > b.keep() {
		return
	}
	b.kept += size
	b.free[class-minClass] = append(b.free[class-minClass], p[:0])
}

// Trim lets go of all that is free. It is for servers that have become idle.
func (b *Buffers) Trim() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.free[:])
	b.kept = 0
}

func (b *Buffers) keep() int {
	if b.Keep == 0 {
		return DefaultKeep
	}
	return b.Keep
}

// Grow returns dst room for n more bytes. If it must, it copies dst to a buffer of at least twice its length, and
// returns the old one back.
func (b *Buffers) Grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	p := append(b.Take(wanted(dst, n)), dst...)
	b.Give(dst)
	return p
}

// wanted is the room that Grow asks for, in bytes.
func wanted(dst []byte, n int) int { return max(len(dst)+n, 2*len(dst)) }

// Grown is the capacity that dst will have, about, when it has grown by room for n more bytes.
func Grown(dst []byte, n int) int {
	if cap(dst)-len(dst) >= n {
		return cap(dst)
	}
	size := wanted(dst, n)
	if size > MaxBuffer {
		return size
	}
	return 1 << max(bits.Len(uint(max(size, 1)-1)), minClass)
}
