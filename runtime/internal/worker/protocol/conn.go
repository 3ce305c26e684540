package protocol

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"sync/atomic"
)

const (
	// firstInBuffer is the size of the buffer for reading until more comes at once: a live provider has several connections,
	// most of which carry short messages.
	firstInBuffer = 4 << 10
	// inBuffer is the size of the buffer for reading: 64 KiB and their headers. A longer message gets a buffer of its own.
	inBuffer = 64<<10 + 1<<10
	// maxKeptOut is the size of the largest buffer that is kept for further messages.
	maxKeptOut = 128 << 10
)

// A Conn carries messages between two processes. One goroutine at a time may read; reading blocks its thread, unless it is of PairPolled. Any
// number may send: messages arrive whole, in the order of Put. Any goroutine may call Shutdown and Close at any time.
//
// After the first error, every later call returns the same one. It is [io.EOF] when the other end was closed between
// two messages; [ErrGone] when it was closed within a message or before one was sent; [ErrClosed] after Shutdown or
// Close. It has [ErrViolation] in its chain when the other process sent an invalid message.
type Conn struct {
	sock  socket
	pipes *pipes                // nil for none; fixed before the first message
	err   atomic.Pointer[error] // nil while there is none

	// owned by the goroutine that reads
	in    []byte // read
	at    int    // offset of the next message in it
	small []byte // the array of in, unless a message is longer
	fills bool   // a read has filled small: the next one is of inBuffer

	number uint64 // see Begin
	read   uint64 // see Number

	mu  sync.Mutex // guards the field below
	out []byte     // queued messages

	sending  sync.Mutex // held while something is sent
	spareOut []byte     // takes the place of out; belongs to the goroutine that sends
}

// Begin sets the number of the call under way: Put and PutMessage write it to each message, and Next refuses messages
// with another number. It is 0 at first, and on connections without calls. A [Call] has its own number, and a [Credit]
// has none. Only the goroutine that reads may call Begin, and send messages of a call.
func (c *Conn) Begin(number uint64) { c.number = number }

// numberOf returns the number with which a message is sent.
func (c *Conn) numberOf(kind Kind) uint64 {
	if kind == KindCredit || kind == KindSwitch {
		return 0
	}
	return c.number
}

// A Message is a kind with its payload. Callers should reuse messages.
type Message interface {
	Kind() Kind
	// Append appends the payload to b. Decoding it yields an equal message.
	Append(b []byte) []byte
	// Check returns why the message cannot be sent; nil if it can.
	Check() error
}

// PairPolled is Pair for a connection from which this process only reads. Reading parks the goroutine, and takes no thread; it wakes
// later than that of Pair.
func PairPolled() (*Conn, *os.File, error) {
	ours, theirs, err := pair(true)
	if err != nil {
		return nil, nil, err
	}
	c := &Conn{}
	if err := c.sock.usePoller(ours); err != nil {
		return nil, nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	return c, theirs, nil
}

// Pair makes a connection. It returns this process's end, and the file for the other process, which the caller closes.
func Pair() (*Conn, *os.File, error) {
	ours, theirs, err := pair(false)
	if err != nil {
		return nil, nil, err
	}
	c, err := Open(ours, 0)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return c, theirs, nil
}

// Open makes a connection of the other end of a [Pair]. It owns the file from then on, even after an error. At most
// maxFiles files may come at once; with 0 any is a violation.
func Open(f *os.File, maxFiles int) (*Conn, error) {
	c := &Conn{}
	if err := c.sock.open(f, maxFiles); err != nil {
		return nil, err
	}
	return c, nil
}

// Put queues a message whose payload is parts, one after the other. Flush sends it, and returns the error of a message
// that cannot be sent. The caller may change parts afterwards.
func (c *Conn) Put(kind Kind, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if c.refuse(encodeError(kind.check(size))) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = appendHeader(c.out, kind, size, c.numberOf(kind))
	for _, p := range parts {
		c.out = append(c.out, p...)
	}
}

// PutMessage queues m, as [Conn.Put] does.
func (c *Conn) PutMessage(m Message) {
	if c.refuse(encodeError(m.Check())) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	start := len(c.out)
	if call, ok := m.(*Call); ok {
		c.out = appendHeader(c.out, KindCall, 0, call.Seq)
	} else {
		c.out = appendHeader(c.out, m.Kind(), 0, c.numberOf(m.Kind()))
	}
	c.out = m.Append(c.out)
	size := len(c.out) - start - headerSize
	if c.refuse(encodeError(m.Kind().check(size))) {
		c.out = c.out[:start]
		return
	}
	binary.LittleEndian.PutUint32(c.out[start:], uint32(size))
}

// Queued returns how many bytes wait for Flush.
func (c *Conn) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.out)
}

// Flush sends the queued messages, and returns when the system has taken them.
func (c *Conn) Flush() error {
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.flush(nil)
}

// flush sends the queued messages, and files with the first of them. The caller holds sending.
func (c *Conn) flush(files []*os.File) error {
	if err := c.failure(); err != nil {
		return err
	}
	c.mu.Lock()
	queued := c.out
	c.out = c.spareOut[:0]
	c.mu.Unlock()
	if c.spareOut = queued; cap(queued) > maxKeptOut {
		c.spareOut = nil
	}
	if len(files) > 0 {
		sent, err := c.sock.writeFiles(queued, files)
		if err != nil {
			return c.fail(err)
		}
		queued = queued[sent:]
	}
	if len(queued) == 0 {
		return nil
	}
	if err := c.send(queued); err != nil {
		return c.fail(err)
	}
	return nil
}

// Shutdown ends the connection on both sides: calls that block in it return, here and in the other process. The other
// process can still read sent messages.
func (c *Conn) Shutdown() { c.sock.shutdown() }

// Close shuts the connection down, and releases its descriptor when no call uses it any more.
func (c *Conn) Close() error { return c.sock.close() }

// failure returns the first error, which all later calls return.
func (c *Conn) failure() error {
	if err := c.err.Load(); err != nil {
		return *err
	}
	return nil
}

// refuse stores an error, if there is one, and reports whether the connection has failed.
func (c *Conn) refuse(err error) bool {
	if err != nil {
		first := err // so that err itself stays off the heap
		c.err.CompareAndSwap(nil, &first)
	}
	return c.err.Load() != nil
}

func (c *Conn) fail(err error) error {
	c.refuse(err)
	return c.failure()
}

func appendHeader(b []byte, k Kind, size int, number uint64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = append(b, byte(k), 0, 0, 0)
	return binary.LittleEndian.AppendUint64(b, number)
}
