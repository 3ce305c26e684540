package sqlite

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// A box is memory that the parent and one helper share. While the helper looks at the box after an answer, the next request
// and its answer may go through it: then neither process makes a system call, or sleeps. All other frames take the pipes.
//
// state says whose turn it is. Either process moves it by compare-and-swap, and writes to the rest only in its own turn. The
// parent copies what it reads before it looks at it, and waits for no state without a bound: a helper that writes what it
// likes gains nothing.
type box struct {
	state *atomic.Uint32
	size  *atomic.Uint32 // bytes of the frame in data; 0 with boxOpen when the answer is in the pipe
	look  *atomic.Uint32 // for how many microseconds after an answer the helper looks; 0 for not at all; set by the parent
	data  []byte
}

// The states of a box.
const (
	boxShut  = iota // the helper does not look; a request takes the pipe
	boxOpen         // the helper looks for a request; the answer to the last one is in the box, or in the pipe
	boxAsked        // the box has a request
	boxPiped        // the box has a request whose answer takes the pipe
)

const (
	boxSize  = 64 << 10
	boxWords = 3 * 64 // bytes before the data; each word has a cache line of its own
)

// boxIn makes a box in memory of boxSize bytes, all zero at first, which is a box that is shut.
func boxIn(memory []byte) *box {
	word := func(i int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&memory[i*64])) }
	return &box{state: word(0), size: word(1), look: word(2), data: memory[boxWords:boxSize]}
}

// ask is for the parent. It passes a request to a helper that looks, or makes it look no longer and returns false: then the
// request takes the pipe.
func (b *box) ask(request []byte) bool {
	if b.state.Load() != boxOpen || len(request) > len(b.data) {
		b.shut()
		return false
	}
	copy(b.data, request)
	b.size.Store(uint32(len(request)))
	return b.state.CompareAndSwap(boxOpen, boxAsked)
}

// shut is for the parent. It makes the helper look no longer, as before a request by the pipe.
func (b *box) shut() { b.state.CompareAndSwap(boxOpen, boxShut) }

// await is for the parent, after ask. It waits until due, without sleeping, and copies the answer into the memory of into,
// if that suffices. come is false when the answer takes the pipe.
func (b *box) await(due time.Time, into []byte) (answer []byte, come bool, err error) {
	for n := 1; b.state.Load() == boxAsked; n++ {
		if n%loadsOfClock != 0 || time.Now().Before(due) {
			continue
		}
		if b.state.CompareAndSwap(boxAsked, boxPiped) {
			return nil, false, nil
		}
		break // the answer has just come
	}
	// The helper may have shut the box since: then it has answered before.
	size := b.size.Load()
	if size > uint32(len(b.data)) {
		return nil, false, violation("a box with %d bytes, it holds %d", size, len(b.data))
	}
	return append(into[:0], b.data[:size]...), size > 0, nil
}

// loadsOfClock is how often a process loads a state before it looks at the clock.
const loadsOfClock = 64

// next is for the helper, after an answer. It waits for a request in the box, without sleeping, and copies it into the memory
// of into. come is false when the next request takes the pipe.
func (b *box) next(into []byte) (request []byte, come bool) {
	due := time.Now().Add(time.Duration(b.look.Load()) * time.Microsecond)
	for n := 1; ; n++ {
		switch b.state.Load() {
		case boxAsked, boxPiped:
			return append(into[:0], b.data[:b.size.Load()]...), true
		case boxOpen:
			if n%loadsOfClock == 0 && !time.Now().Before(due) {
				b.state.CompareAndSwap(boxOpen, boxShut)
			}
		default:
			return nil, false
		}
	}
}

// answer is for the helper. It passes the answer to the last request, and reports whether that came by the box and the answer
// fits; otherwise the answer takes the pipe, after answer has returned. The helper then looks for the next request.
func (b *box) answer(answer []byte) bool {
	if b.state.Load() == boxAsked && len(answer) <= len(b.data) {
		copy(b.data, answer)
		b.size.Store(uint32(len(answer)))
		if b.state.CompareAndSwap(boxAsked, boxOpen) {
			return true
		}
	}
	if b.look.Load() == 0 && b.state.Load() == boxShut {
		return false
	}
	b.size.Store(0)
	b.state.Store(boxOpen)
	return false
}
