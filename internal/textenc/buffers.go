package textenc

import (
	"math/bits"
	"sync"
)

const (
	// DefaultKeep is how many bytes of unused buffers are stored by default.
	DefaultKeep = 16 << 20
	// MinBuffer is the capacity of the smallest buffer, in bytes.
	MinBuffer = 4 << 10
	// MaxBuffer is the capacity of the largest buffer that is stored for reuse, in bytes.
	MaxBuffer = 4 << 20
)

// minClass and maxClass are the sizes of buffers, as powers of two: 1<<minClass is MinBuffer, 1<<maxClass MaxBuffer.
const minClass, maxClass = 12, 22

// Buffers stores output buffers for reuse. It is safe for concurrent use. The zero Buffers is ready, and stores
// DefaultKeep bytes.
type Buffers struct {
	// Keep is how many bytes of unused buffers are stored at most; 0 means DefaultKeep, and a negative number none. It
	// must be set before the first use.
	Keep int

	mu   sync.Mutex
	free [maxClass - minClass + 1][][]byte // by the power of two of their room; the last one was used last
	kept int                               // bytes of what is free
}

// Take returns a buffer of length zero with room for n bytes or more. The bytes beyond its length are from earlier uses
// by other callers: they must be written before they are read. The caller may keep the buffer, or return it by
// [Buffers.Give].
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

// Give accepts a buffer that is no longer in use, also one that has grown, or that is not from Take. It stores the
// buffer unless it is smaller than MinBuffer, larger than MaxBuffer, or beyond Keep.
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

// Trim releases all unused buffers. It is for servers that have become idle.
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

// Grow returns dst with room for n more bytes. If necessary, it copies dst to a buffer of at least twice its length,
// and gives the old one to Give.
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

// Grown estimates the capacity of dst after it has grown by room for n more bytes.
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
