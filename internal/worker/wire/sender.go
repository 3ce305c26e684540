package wire

import (
	"sync/atomic"
	"time"
)

const (
	// batch is how many bytes a Sender queues before it flushes by itself.
	batch = 64 << 10
	// inlineBody is the longest body, in bytes, that is sent as a message.
	inlineBody = 16 << 10
	// windowPiece is the most one Chunk announces, in bytes: the parent reads a piece while the worker copies the next.
	windowPiece = 64 << 10
)

// A Sender is the worker's end of a link. It belongs to one goroutine at a time. Of the window it uses what the parent
// has not yet to read, as a ring.
type Sender struct {
	conn *Conn
	ring []byte
	at   int // where the next byte goes
	free int // bytes from there on

	waited atomic.Int64 // for credit in the call under way; see Waited
	unsaid int          // bytes whose chunks are queued
	chunk  Chunk        // the last one announced
}

// NewSender makes the worker's end of a link. The mapping must stay open as long as it is in use.
func NewSender(c *Conn, m *Mapping) *Sender {
	s := &Sender{conn: c, ring: m.bytes}
	s.Reset()
	return s
}

// Reset begins a call: nothing is in the window. Next does so when it reads one, as the parent does when it writes one:
// credit for what was before has been read by then.
func (s *Sender) Reset() {
	s.at, s.free, s.unsaid = 0, len(s.ring), 0
	s.waited.Store(0)
}

// Waited is for how long the parent has kept the call under way waiting, because it was busy with what Body has sent. It
// is safe for concurrent use.
func (s *Sender) Waited() time.Duration { return time.Duration(s.waited.Load()) }

// Next gives the next message, as [Conn.Next] does, but for credit, which it keeps. A call finds the window empty.
func (s *Sender) Next() (Kind, []byte, error) {
	for {
		kind, p, err := s.conn.Next()
		if kind == KindCall {
			s.Reset()
		}
		if err != nil || kind != KindCredit {
			return kind, p, err
		}
		if err := s.credit(p); err != nil {
			return 0, nil, s.conn.fail(err)
		}
	}
}

func (s *Sender) credit(p []byte) error {
	var c Credit
	if err := c.Decode(p); err != nil {
		return err
	}
	if owed := len(s.ring) - s.free; c.Bytes == 0 || uint64(c.Bytes) > uint64(owed) {
		return Protocolf("credit of %d bytes, where %d are owed", c.Bytes, owed)
	}
	s.free += int(c.Bytes)
	return nil
}

// Put queues a message behind the others, and flushes those when there are many. What must not wait is to be followed
// by Flush.
func (s *Sender) Put(kind Kind, parts ...[]byte) error {
	size := headerSize
	for _, p := range parts {
		size += len(p)
	}
	if err := s.makeRoom(size); err != nil {
		return err
	}
	s.conn.Put(kind, parts...)
	return s.conn.err
}

// PutMessage queues m, as [Sender.Put] does.
func (s *Sender) PutMessage(m Message) error {
	if err := s.makeRoom(0); err != nil {
		return err
	}
	s.conn.PutMessage(m)
	return s.conn.err
}

func (s *Sender) makeRoom(size int) error {
	if q := s.conn.Queued(); q > 0 && q+size > batch {
		return s.Flush()
	}
	return s.conn.err
}

// Flush sends what is queued.
func (s *Sender) Flush() error {
	s.unsaid = 0
	return s.conn.Flush()
}

// Body sends bytes of the content last begun: short ones as messages, long ones through the window, for which it may
// wait until the parent has read what is there.
func (s *Sender) Body(p []byte) error {
	if len(p) == 0 {
		return s.conn.err
	}
	if len(p) <= inlineBody {
		return s.Put(KindBody, p)
	}
	for len(p) > 0 {
		n, err := s.piece(p)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// piece copies the beginning of p into the window and announces it.
func (s *Sender) piece(p []byte) (int, error) {
	n := min(len(p), windowPiece, len(s.ring)-s.at)
	if err := s.awaitCredit(n); err != nil {
		return 0, err
	}
	copy(s.ring[s.at:], p[:n])
	s.chunk = Chunk{Offset: uint32(s.at), Length: uint32(n)}
	s.conn.PutMessage(&s.chunk)
	s.at, s.free = (s.at+n)%len(s.ring), s.free-n
	if s.unsaid += n; s.unsaid < windowPiece {
		return n, s.conn.err
	}
	return n, s.Flush()
}

func (s *Sender) awaitCredit(n int) error {
	if s.free >= n {
		return nil
	}
	began := time.Now()
	defer func() { s.waited.Add(int64(time.Since(began))) }()
	for s.free < n {
		if err := s.Flush(); err != nil {
			return err
		}
		kind, p, err := s.conn.Next()
		if err != nil {
			return err
		}
		if kind != KindCredit {
			return s.conn.Unexpected(kind)
		}
		if err := s.credit(p); err != nil {
			return s.conn.fail(err)
		}
	}
	return nil
}
