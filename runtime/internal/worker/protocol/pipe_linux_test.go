package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
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

// A liar is a worker that writes what it likes to the pipes of a link, and to its socket.
type liar struct {
	parent *protocol.Conn
	socket *os.File
	memory []byte // of the pipes
}

func newLiar(tb testing.TB) *liar {
	tb.Helper()
	parent, socket := pair(tb)
	w, _ := newWindow(tb, 0)
	if err := parent.UsePipes(w); err != nil {
		tb.Fatal(err)
	}
	memory, err := unix.Mmap(int(w.File().Fd()), int64(w.Size()), pipesSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = unix.Munmap(memory) })
	return &liar{parent: parent, socket: socket, memory: memory}
}

// The words of the pipe to the parent.
const (
	wordHead   = 3
	wordAsleep = 5
)

func (l *liar) word(i int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&l.memory[i*64])) }

// put writes to the memory of the pipe to the parent. The parent reads what the word of the head says.
func (l *liar) put(data []byte) { copy(l.memory[4*kib+pipeSize:], data) }

var (
	message = raw(3, byte(protocol.KindBody), 0, 3)
	change  = raw(0, byte(protocol.KindSwitch), 0, 0)
)

// A switch without a message before the next one is refused: the parent would read on, and never look at its call.
func TestTwoSwitchesInARowAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ socket, pipe []byte }{
		"in both places":            {change, change},
		"before a message":          {slices.Concat(change, message), change},
		"after one":                 {slices.Concat(change, change, message), slices.Concat(message, change)},
		"after one, in both places": {slices.Concat(message, change), change},
		"again and again, in a row": {bytes.Repeat(change, 1000), change},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLiar(t)
			write(t, l.socket, c.socket)
			l.socket.Close()
			l.put(c.pipe)
			l.word(wordHead).Store(uint32(len(c.pipe)))
			if err := last(l.parent); !errors.Is(err, protocol.ErrViolation) || !strings.Contains(err.Error(), "two switches") {
				t.Errorf("got %v, want a violation by two switches", err)
			}
		})
	}
}

// What the parent allocates for bytes that come before their turn grows with their number, however often a worker
// switches: it copies them once.
func TestSwitchesCostNoMoreThanTheirBytes(t *testing.T) {
	const pairs, most = 400, 400 * kib
	got := allocatedForSwitches(t, pairs)
	for range 2 { // other goroutines of the process allocate, too
		if got > most {
			got = allocatedForSwitches(t, pairs)
		}
	}
	if got > most {
		t.Errorf("%d bytes allocated, want at most %d", got, most)
	}
}

// allocatedForSwitches returns how many bytes the process allocates while a worker switches to and fro with each message.
func allocatedForSwitches(t *testing.T, pairs int) uint64 {
	t.Helper()
	l := newLiar(t)
	socket := bytes.Repeat(slices.Concat(change, message), pairs)
	write(t, l.socket, append(socket, make([]byte, fits-len(socket))...))
	piped := slices.Concat(message, change)
	l.put(bytes.Repeat(piped, pairs))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range pairs {
		l.word(wordHead).Store(uint32((i + 1) * len(piped)))
		for range 2 {
			if kind, _, err := l.parent.Next(); err != nil || kind != protocol.KindBody {
				t.Fatal(i, kind, err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// After Shutdown the parent reads nothing that a worker may still write to the pipe.
func TestShutdownEndsReadingOfWhatHasCome(t *testing.T) {
	for name, socket := range map[string][]byte{"in the pipe": change, "by the socket, before its turn": slices.Concat(change, message)} {
		t.Run(name, func(t *testing.T) {
			l := newLiar(t)
			write(t, l.socket, socket)
			first := slices.Concat(message, change)
			if len(socket) == len(change) {
				first = message
			}
			l.put(slices.Concat(first, message))
			l.word(wordHead).Store(uint32(len(first)))
			if _, _, err := l.parent.Next(); err != nil {
				t.Fatal(err)
			}
			l.word(wordHead).Add(uint32(len(first[:len(message)])))
			l.parent.Shutdown()
			if kind, _, err := l.parent.Next(); err != protocol.ErrClosed {
				t.Errorf("got %v, %v, want ErrClosed", kind, err)
			}
		})
	}
}

// A worker that wakes the parent for nothing too often is found out, also when something has come by then.
func TestAWorkerThatWakesForNothingIsRefused(t *testing.T) {
	l := newLiar(t)
	write(t, l.socket, change)
	l.put(message)
	read := make(chan error)
	go func() { read <- last(l.parent) }()
	for i := range 3 {
		for !l.word(wordAsleep).CompareAndSwap(1, 0) { // then the parent waits for the byte, whatever has come
			runtime.Gosched()
		}
		if i == 2 {
			l.word(wordHead).Store(uint32(len(message)))
		}
		write(t, l.socket, []byte{0})
	}
	l.socket.Close()
	if err := <-read; !errors.Is(err, protocol.ErrViolation) {
		t.Errorf("got %v, want a violation", err)
	}
}

// FuzzPipes has a worker write what it likes to the memory of the pipes and to the socket. The parent reads and writes until
// it finds an error, and never waits: the worker has ended.
func FuzzPipes(f *testing.F) {
	n := uint32(len(message) + len(change))
	for _, seed := range []struct {
		socket, data []byte
		words        []uint32 // six at a time, before each message
	}{
		{change, message, []uint32{wordHead: uint32(len(message))}},
		{slices.Concat(change, make([]byte, 3)), message, []uint32{wordHead: uint32(len(message))}},
		{slices.Concat(change, message), message, nil},
		{change, slices.Concat(message, change), []uint32{wordHead: n}},
		{slices.Concat(change, change, message), change, []uint32{wordHead: uint32(len(change))}},
		{change, message, []uint32{wordHead: pipeSize + 1}},
		{change, message, []uint32{wordHead: 1<<32 - 1, 1: 1 << 31}},
		{change, message, []uint32{0: 7, 1: 9, 2: 2, 3: 19, 4: 100, 5: 77}},
		{message, nil, []uint32{1: 1}},
		{bytes.Repeat(change, 3), change, []uint32{wordHead: uint32(len(change))}},
		{
			bytes.Repeat(slices.Concat(change, message), 3), bytes.Repeat(slices.Concat(message, change), 3),
			[]uint32{wordHead: n, 6 + wordHead: n, 12 + wordHead: 2 * n, 18 + wordHead: 2 * n, 24 + wordHead: 3 * n, 30 + wordHead: 3 * n},
		},
	} {
		var words []byte
		for _, w := range seed.words {
			words = binary.LittleEndian.AppendUint32(words, w)
		}
		f.Add(seed.socket, words, seed.data)
	}
	f.Fuzz(func(t *testing.T, socket, words, data []byte) {
		l := newLiar(t)
		conn := l.parent
		drained := feed(t, l.socket, socket[:min(len(socket), fits)])
		l.put(data)
		scribble := func() {
			for at := 0; len(words) >= 4 && at < 6; at, words = at+1, words[4:] {
				l.word(at).Store(binary.LittleEndian.Uint32(words))
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
