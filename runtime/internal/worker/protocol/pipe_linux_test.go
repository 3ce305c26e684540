package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const (
	pipeSize  = 16 * kib
	pipesSize = 4*kib + 2*pipeSize
)

// newPipedEnds are both ends of a link that use its pipes.
func newPipedEnds(tb testing.TB) *ends {
	tb.Helper()
	e := newEnds(tb, 0)
	if err := e.parent.UsePipes(e.window); err != nil {
		tb.Fatal(err)
	}
	e.worker.OfferPipes(e.mapping)
	return e
}

// sizes are those of bodies that fit into a pipe, that fit into it not always, and that never do.
var sizes = []int{0, 1, 100, 4000, 7 * kib, 9 * kib, 16*kib - 33, 16*kib - 32, 16 * kib, 40 * kib, 3, 300 * kib, 5, 5, 5, 16 * kib, 8 * kib, 8 * kib, 1}

// Contents of any size come whole, in any order, whether or not the messages fit into the pipe.
func TestContentsComeThroughPipes(t *testing.T) {
	e := newPipedEnds(t)
	content := pattern(300 * kib)
	for range 20 {
		for _, n := range sizes {
			e.transfer(t, content[:n])
		}
	}
}

// Messages come in the order in which they were sent, both ways at once, and also when the reader is behind.
func TestPipesKeepTheOrder(t *testing.T) {
	e := newPipedEnds(t)
	content := pattern(64 * kib)
	send := func(c *protocol.Conn, sent chan<- error) {
		for range 50 {
			for _, n := range sizes {
				c.Put(protocol.KindBody, content[:min(max(n, 1), len(content))])
				if err := c.Flush(); err != nil {
					sent <- err
					return
				}
			}
		}
		sent <- nil
	}
	receive := func(c *protocol.Conn) error {
		for range 50 {
			for _, n := range sizes {
				kind, p, err := c.Next()
				if err != nil {
					return err
				}
				if kind != protocol.KindBody || !bytes.Equal(p, content[:min(max(n, 1), len(content))]) {
					return errors.New("got another message")
				}
			}
		}
		return nil
	}
	sent, received := make(chan error, 2), make(chan error, 1)
	go send(e.worker, sent)
	go send(e.parent, sent)
	go func() { received <- receive(e.worker) }()
	if err := errors.Join(receive(e.parent), <-received, <-sent, <-sent); err != nil {
		t.Fatal(err)
	}
}

// What was written to a pipe before the end can be read after it.
func TestPipesAreReadToTheirEnd(t *testing.T) {
	e := newPipedEnds(t)
	e.transfer(t, []byte("both ends have switched"))
	e.worker.Put(protocol.KindBody, []byte("last"))
	if err := errors.Join(e.worker.Flush(), e.worker.Close()); err != nil {
		t.Fatal(err)
	}
	if kind, p, err := e.parent.Next(); err != nil || kind != protocol.KindBody || string(p) != "last" {
		t.Fatalf("got %v %q, %v", kind, p, err)
	}
	if _, _, err := e.parent.Next(); err != io.EOF {
		t.Errorf("then got %v, want io.EOF", err)
	}
}

// Shutdown ends a read that waits for a pipe, and all later calls.
func TestShutdownEndsAReadOfAPipe(t *testing.T) {
	e := newPipedEnds(t)
	e.transfer(t, []byte("both ends have switched"))
	read := make(chan error)
	go func() {
		_, _, err := e.parent.Next()
		read <- err
	}()
	e.parent.Shutdown()
	if err := <-read; err != protocol.ErrClosed {
		t.Errorf("got %v, want ErrClosed", err)
	}
	e.parent.Put(protocol.KindBody, []byte("x"))
	if e.parent.TryFlush() {
		t.Error("sent something after Shutdown")
	}
	if err := e.parent.Flush(); err != protocol.ErrClosed {
		t.Errorf("Flush: got %v, want ErrClosed", err)
	}
}

// TryFlush sends only what fits into the pipe.
func TestTryFlush(t *testing.T) {
	e := newPipedEnds(t)
	e.parent.Put(protocol.KindBody, []byte("early"))
	if e.parent.TryFlush() {
		t.Fatal("the parent used the pipe before it knew that the worker does")
	}
	if err := e.parent.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.worker.Next(); err != nil {
		t.Fatal(err)
	}
	e.transfer(t, []byte("the worker has switched"))
	e.transfer(t, []byte("the parent has switched"))
	for _, step := range []struct {
		n    int
		want bool
	}{{1, true}, {20 * kib, false}, {1, false}, {1, true}} {
		n := step.n
		e.parent.Put(protocol.KindBody, make([]byte, n))
		if got := e.parent.TryFlush(); got != step.want {
			t.Errorf("%d bytes: got %v, want %v", n, got, step.want)
		}
		if err := e.parent.Flush(); err != nil {
			t.Fatal(err)
		}
		if _, p, err := e.worker.Next(); err != nil || len(p) != n {
			t.Fatalf("got %d bytes, %v, want %d", len(p), err, n)
		}
	}
}

// FuzzPipes has a worker write what it likes to the memory of the pipes and to the socket. The parent reads and writes until
// it finds an error, and never waits: the worker has ended.
func FuzzPipes(f *testing.F) {
	message := raw(3, byte(protocol.KindBody), 0, 3)
	change := raw(0, byte(protocol.KindSwitch), 0, 0)
	for _, seed := range []struct {
		socket, data []byte
		words        [6]uint32
	}{
		{change, message, [6]uint32{3: uint32(len(message))}},
		{append(bytes.Clone(change), 0, 0, 0), message, [6]uint32{3: uint32(len(message))}},
		{append(bytes.Clone(change), message...), message, [6]uint32{}},
		{change, append(bytes.Clone(message), change...), [6]uint32{3: uint32(len(message) + len(change))}},
		{append(append(bytes.Clone(change), change...), message...), change, [6]uint32{3: uint32(len(change))}},
		{change, message, [6]uint32{3: pipeSize + 1}},
		{change, message, [6]uint32{3: 1<<32 - 1, 1: 1 << 31}},
		{change, message, [6]uint32{0: 7, 1: 9, 2: 2, 3: 19, 4: 100, 5: 77}},
		{message, nil, [6]uint32{1: 1}},
	} {
		var words []byte
		for _, w := range seed.words {
			words = binary.LittleEndian.AppendUint32(words, w)
		}
		f.Add(seed.socket, words, seed.data)
	}
	f.Fuzz(func(t *testing.T, socket, words, data []byte) {
		conn, theirs := pair(t)
		w, _ := newWindow(t, 0)
		if err := conn.UsePipes(w); err != nil {
			t.Fatal(err)
		}
		mapped, err := unix.Mmap(int(w.File().Fd()), int64(w.Size()), pipesSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(mapped)
		drained := feed(t, theirs, socket[:min(len(socket), fits)])
		copy(mapped[4*kib+pipeSize:], data)
		scribble := func() {
			for at := 0; len(words) >= 4 && at < 6; at, words = at+1, words[4:] {
				(*atomic.Uint32)(unsafe.Pointer(&mapped[at*64])).Store(binary.LittleEndian.Uint32(words))
			}
		}
		scribble()
		for count := 0; ; count++ {
			kind, p, err := conn.Next()
			if err == nil && len(p) > protocol.MaxPayload {
				t.Errorf("got %v of %d bytes", kind, len(p))
			}
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, protocol.ErrGone) && !errors.Is(err, protocol.ErrViolation) {
				t.Errorf("got %v", err)
			}
			if err != nil {
				break
			}
			if count > len(socket)+len(words)*pipeSize+pipeSize {
				t.Fatal("got more messages than were written")
			}
			conn.Put(protocol.KindBody, make([]byte, 1+count%9000))
			if !conn.TryFlush() {
				_ = conn.Flush() // Next returns the same error
			}
			scribble()
		}
		conn.Close()
		<-drained
	})
}
