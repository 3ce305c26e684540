package link_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
)

// The words of the pipes of a link, by their numbers, and sizes in bytes.
const (
	tailToWorker   = 1
	headToParent   = 3
	tailToParent   = 4
	asleepToParent = 5
	words          = 6

	wordsSize = 4 << 10
	pipeSize  = 16 << 10
)

// A pipeWriter writes to the pipe of a link that the parent reads, as a worker does that need not be honest.
type pipeWriter struct {
	all      []byte // the words, the pipe to the worker, the pipe to the parent
	at       uint32 // bytes written so far
	switched bool   // the parent knows that the pipe is used
	gone     bool   // the parent has closed the connection, or reads no more
}

func newPipeWriter(window *os.File) *pipeWriter {
	b, err := unix.Mmap(int(window.Fd()), protocol.DefaultWindow, wordsSize+2*pipeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return &pipeWriter{all: b}
}

func (p *pipeWriter) close() { _ = unix.Munmap(p.all) }

func (p *pipeWriter) word(i int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&p.all[i*64]))
}

// write writes b, and reports whether it lied about where messages are. wild is how often it breaks the protocol.
func (p *pipeWriter) write(socket *os.File, b []byte, rng *rand.Rand, wild float64) (lied bool) {
	if len(b) == 0 || p.gone {
		return false
	}
	if !p.switched {
		p.switched = true
		if _, err := socket.Write(protocoltest.Header(0, protocol.KindSwitch, 0)); err != nil {
			p.gone = true
			return false
		}
	}
	if rng.Float64() < wild/8 {
		lied = true
		p.scribble(socket, rng)
	}
	data := p.all[wordsSize+pipeSize:]
	for len(b) > 0 && p.awaitRoom(socket) {
		n := min(len(b), pipeSize-int(p.at-p.word(tailToParent).Load()))
		if n <= 0 || n > pipeSize { // after a lie of its own
			p.gone = true
			return lied
		}
		for i, c := range b[:n] {
			data[(p.at+uint32(i))%pipeSize] = c
		}
		p.at += uint32(n)
		p.word(headToParent).Store(p.at)
		p.ring(socket)
		b = b[n:]
	}
	return lied
}

// awaitRoom waits until the parent has read something if the pipe is full, and returns false if the parent reads no more.
func (p *pipeWriter) awaitRoom(socket *os.File) bool {
	for p.at-p.word(tailToParent).Load() >= pipeSize {
		p.ring(socket)
		poll := []unix.PollFd{{Fd: int32(socket.Fd()), Events: unix.POLLRDHUP}}
		if n, err := unix.Poll(poll, 0); n > 0 || err != nil && err != unix.EINTR {
			p.gone = true
			return false
		}
		runtime.Gosched()
	}
	return true
}

// ring wakes the parent if it sleeps.
func (p *pipeWriter) ring(socket *os.File) {
	if p.word(asleepToParent).CompareAndSwap(1, 0) {
		_, err := socket.Write([]byte{0})
		p.gone = p.gone || err != nil
	}
}

// scribble writes something into one of the words, or wakes the parent for nothing.
func (p *pipeWriter) scribble(socket *os.File, rng *rand.Rand) {
	i := rng.IntN(words + 1)
	if i == words {
		_, err := socket.Write([]byte{0})
		p.gone = p.gone || err != nil
		return
	}
	values := []uint32{0, 1, 2, p.at, p.at + 1, p.at - 1, p.at + pipeSize, p.at + pipeSize + 1, 1 << 31, rng.Uint32()}
	p.word(i).Store(values[rng.IntN(len(values))])
}
