package wire

import (
	"encoding/binary"
	"os"
)

const (
	// inSize is the buffer that is read into, in bytes: 64 KiB and what goes before it. A longer message gets one of its
	// own.
	inSize = 64<<10 + 1<<10
	// outKept is the most room, in bytes, that is kept for messages to come.
	outKept = 128 << 10
)

// A Conn carries messages between two processes. It belongs to one goroutine at a time, which may block in it, and with
// it a thread; Shut and Close may be called by any goroutine at any time.
//
// The first error of a Conn is its last: every later call gives the same. It is [io.EOF] when the other end was closed
// between two messages, [ErrGone] when that happened in the middle of one or before what was to be sent, [ErrShut]
// after Shut or Close, and has [ErrProtocol] in its chain when what came cannot be a message.
type Conn struct {
	sock socket
	err  error

	out   []byte // queued messages
	in    []byte // read
	at    int    // where in the next message begins
	small []byte // what in is, but for the length, when no message is longer
}

// A Message is a kind together with its payload. The messages of this package are meant to be kept and used again.
type Message interface {
	Kind() Kind
	// Append appends the payload to b. What it appends decodes to the same message again.
	Append(b []byte) []byte
	// Check says why the message cannot be sent; nil when it can.
	Check() error
}

// Pair makes a connection: our end, and the file to hand to the other process, which the caller closes.
func Pair() (*Conn, *os.File, error) {
	ours, theirs, err := pair()
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

// Open makes a connection of the other end of a [Pair]. The file belongs to the connection from now on, even after an
// error. At most maxFiles files may come at once; with 0 any is a breach of the protocol.
func Open(f *os.File, maxFiles int) (*Conn, error) {
	c := &Conn{}
	if err := c.sock.open(f, maxFiles); err != nil {
		return nil, err
	}
	return c, nil
}

// Put queues a message whose payload is parts, one after the other. Nothing is sent before Flush, which also says what
// is wrong with a message that cannot be sent. What is handed over may be changed afterwards.
func (c *Conn) Put(kind Kind, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if c.refuse(unsendable(kind.check(size))) {
		return
	}
	c.out = appendHeader(c.out, kind, size)
	for _, p := range parts {
		c.out = append(c.out, p...)
	}
}

// PutMessage queues m, as [Conn.Put] does.
func (c *Conn) PutMessage(m Message) {
	if c.refuse(unsendable(m.Check())) {
		return
	}
	start := len(c.out)
	c.out = m.Append(appendHeader(c.out, m.Kind(), 0))
	size := len(c.out) - start - headerSize
	if c.refuse(unsendable(m.Kind().check(size))) {
		return
	}
	binary.LittleEndian.PutUint32(c.out[start:], uint32(size))
}

// Queued is how many bytes wait for Flush.
func (c *Conn) Queued() int { return len(c.out) }

// Flush sends what is queued, and returns when the system has taken all of it.
func (c *Conn) Flush() error {
	if c.err != nil {
		return c.err
	}
	if len(c.out) == 0 {
		return nil
	}
	if err := c.sock.write(c.out); err != nil {
		return c.fail(err)
	}
	if c.out = c.out[:0]; cap(c.out) > outKept {
		c.out = nil
	}
	return nil
}

// Shut ends the connection for both sides: whatever blocks in it returns, here and in the other process. What was sent
// can still be read there.
func (c *Conn) Shut() { c.sock.shut() }

// Close shuts the connection, and releases its descriptor as soon as nobody is using it.
func (c *Conn) Close() error { return c.sock.close() }

// refuse notes an error, if there is one, and reports whether the connection has failed.
func (c *Conn) refuse(err error) bool {
	if c.err == nil {
		c.err = err
	}
	return c.err != nil
}

func (c *Conn) fail(err error) error {
	c.refuse(err)
	c.out, c.in, c.small = nil, nil, nil
	return c.err
}

func appendHeader(b []byte, k Kind, size int) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return append(b, byte(k), 0, 0, 0)
}
