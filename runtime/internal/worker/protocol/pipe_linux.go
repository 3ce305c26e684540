package protocol

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// UsePipes makes the parent's end of a link use the pipes of its window, as soon as the worker does. It is called before the
// first message.
func (c *Conn) UsePipes(w *Window) error {
	b, err := unix.Mmap(int(w.file.Fd()), int64(w.size), pipesSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("window: map the pipes: %w", err)
	}
	c.sock.onClose = func() { _ = unix.Munmap(b) }
	toWorker, toParent := pipesIn(b)
	c.pipes = &pipes{in: toParent, out: toWorker, yields: parentYields}
	return nil
}

// OfferPipes makes the worker's end of a link use the pipes of its window. It is called before the first message. The
// mapping must stay open as long as the connection.
func (c *Conn) OfferPipes(m *Mapping) {
	toWorker, toParent := pipesIn(m.all[len(m.bytes):])
	c.pipes = &pipes{in: toWorker, out: toParent}
	c.pipes.isShared.Store(true)
}

// pipesIn returns the pipes in shared memory of pipesSize bytes.
func pipesIn(b []byte) (toWorker, toParent pipe) {
	words := b[:len(b)-2*pipeSize]
	return pipeIn(words, b[len(words):][:pipeSize]), pipeIn(words[wordsOfPipe:], b[len(words)+pipeSize:])
}

func pipeIn(words, data []byte) pipe {
	word := func(at int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&words[at])) }
	return pipe{head: word(wordHead), tail: word(wordTail), asleep: word(wordAsleep), data: data}
}
