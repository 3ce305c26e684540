package protocol

import (
	"bytes"
	"sync/atomic"
	"time"
)

const (
	// batch is how many queued bytes a Sender flushes by itself.
	batch = 64 << 10
	// inlineBody is the longest body, in bytes, that is sent as a message.
	inlineBody = 16 << 10
	// maxChunk is the most bytes that one Chunk announces: the parent reads a chunk while the worker copies the next.
	maxChunk = 64 << 10
)

// A Sender is the worker's end of a link. It belongs to one goroutine at a time. It uses the window as a ring, and
// writes only where the parent has nothing left to read.
type Sender struct {
	conn *Conn
	ring []byte
	at   int // where the next byte goes
	free int // bytes from there on

	waited      atomic.Int64 // for credit in the call under way; see Blocked
	queued      []queuedCall // to come
	queuedBytes int          // bytes of them
	unflushed   int          // bytes in the window whose chunks are queued
	chunk       Chunk        // the last one announced
}

// A queuedCall came while another call was under way.
type queuedCall struct {
	number  uint64
	payload []byte
}

// NewSender makes the worker's end of a link. The mapping must stay open as long as it is in use.
func NewSender(c *Conn, m *Mapping) *Sender {
	return &Sender{conn: c, ring: m.bytes, free: len(m.bytes)}
}

// Blocked returns how long the call under way has waited for the parent to read the bytes of Body. It is safe for
// concurrent use.
func (s *Sender) Blocked() time.Duration { return time.Duration(s.waited.Load()) }

// Stood adds time for which the guest of the call under way stood still, to what Blocked returns.
func (s *Sender) Stood(still time.Duration) { s.waited.Add(int64(still)) }

// NextCall waits for the next call, and begins it. The payload is valid until the next call of a method.
func (s *Sender) NextCall() (number uint64, payload []byte, err error) {
	s.waited.Store(0)
	if number, payload, err = s.nextCall(); err != nil {
		return 0, nil, err
	}
	s.conn.Begin(number)
	return number, payload, nil
}

func (s *Sender) nextCall() (number uint64, payload []byte, err error) {
	if len(s.queued) > 0 {
		next := s.queued[0]
		s.queued, s.queuedBytes = s.queued[1:], s.queuedBytes-len(next.payload)
		return next.number, next.payload, nil
	}
	for {
		kind, p, err := s.conn.Next()
		switch {
		case err != nil:
			return 0, nil, err
		case kind == KindCall:
			return s.conn.Number(), p, nil
		case kind != KindCredit:
			return 0, nil, s.conn.Unexpected(kind)
		}
		if err := s.addCredit(p); err != nil {
			return 0, nil, s.conn.fail(err)
		}
	}
}

// next returns the next message of the call under way; it handles credit itself. It queues further calls for NextCall.
func (s *Sender) next() (Kind, []byte, error) {
	for {
		kind, p, err := s.conn.Next()
		if err != nil {
			return 0, nil, err
		}
		switch kind {
		case KindCredit:
			err = s.addCredit(p)
		case KindCall:
			err = s.enqueue(p)
		default:
			return kind, p, nil
		}
		if err != nil {
			return 0, nil, s.conn.fail(err)
		}
	}
}

// enqueue queues a call for NextCall.
func (s *Sender) enqueue(p []byte) error {
	if s.queuedBytes+len(p) > MaxQueuedBytes {
		return tooLong("queued calls", s.queuedBytes+len(p), MaxQueuedBytes)
	}
	s.queued, s.queuedBytes = append(s.queued, queuedCall{s.conn.Number(), bytes.Clone(p)}), s.queuedBytes+len(p)
	return nil
}

func (s *Sender) addCredit(p []byte) error {
	var c Credit
	if err := c.Decode(p); err != nil {
		return err
	}
	if owed := len(s.ring) - s.free; c.Bytes == 0 || uint64(c.Bytes) > uint64(owed) {
		return Errorf("credit of %d bytes, where %d are owed", c.Bytes, owed)
	}
	s.free += int(c.Bytes)
	return nil
}

// Put queues a message, and flushes when many bytes are queued. A message that must not wait needs Flush.
func (s *Sender) Put(kind Kind, parts ...[]byte) error {
	size := headerSize
	for _, p := range parts {
		size += len(p)
	}
	if err := s.makeRoom(size); err != nil {
		return err
	}
	s.conn.Put(kind, parts...)
	return s.conn.failure()
}

// PutMessage queues m, as [Sender.Put] does.
func (s *Sender) PutMessage(m Message) error {
	if err := s.makeRoom(0); err != nil {
		return err
	}
	s.conn.PutMessage(m)
	return s.conn.failure()
}

func (s *Sender) makeRoom(size int) error {
	if q := s.conn.Queued(); q > 0 && q+size > batch {
		return s.Flush()
	}
	return s.conn.failure()
}

// Flush sends the queued messages.
func (s *Sender) Flush() error {
	s.unflushed = 0
	return s.conn.Flush()
}

// Body sends bytes of the content last begun: short ones as messages, long ones through the window. It waits while the
// window is full.
func (s *Sender) Body(p []byte) error {
	if len(p) == 0 {
		return s.conn.failure()
	}
	if len(p) <= inlineBody {
		return s.Put(KindBody, p)
	}
	for len(p) > 0 {
		n, err := s.writeChunk(p)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// writeChunk copies the beginning of p into the window and announces it.
func (s *Sender) writeChunk(p []byte) (int, error) {
	n := min(len(p), maxChunk, len(s.ring)-s.at)
	if err := s.awaitCredit(n); err != nil {
		return 0, err
	}
	copy(s.ring[s.at:], p[:n])
	s.chunk = Chunk{Offset: uint32(s.at), Length: uint32(n)}
	s.conn.PutMessage(&s.chunk)
	s.at, s.free = (s.at+n)%len(s.ring), s.free-n
	if s.unflushed += n; s.unflushed < maxChunk {
		return n, s.conn.failure()
	}
	return n, s.Flush()
}

func (s *Sender) awaitCredit(n int) error {
	if s.free >= n {
		return nil
	}
	began := time.Now()
	defer func() { s.waited.Add(int64(time.Since(began))) }()
	if err := s.Flush(); err != nil {
		return err
	}
	for s.free < n {
		kind, p, err := s.conn.Next()
		switch {
		case err != nil:
			return err
		case kind == KindCredit:
			err = s.addCredit(p)
		case kind == KindCall:
			err = s.enqueue(p)
		default:
			return s.conn.Unexpected(kind)
		}
		if err != nil {
			return s.conn.fail(err)
		}
	}
	return nil
}
