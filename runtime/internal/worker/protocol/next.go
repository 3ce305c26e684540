package protocol

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Next waits for the next message. The payload is within the bounds of its kind, and valid until the next call of Next.
// The message belongs to the call under way, except that a [Call] has its own number: [Conn.Number].
func (c *Conn) Next() (Kind, []byte, error) {
	if err := c.failure(); err != nil {
		return 0, nil, err
	}
	kind, size, err := c.nextHeader()
	if err != nil {
		return 0, nil, c.fail(err)
	}
	if err := c.fill(headerSize + size); err != nil {
		return 0, nil, c.fail(fmt.Errorf("%v message of %d bytes: %w", kind, size, err))
	}
	start := c.at + headerSize
	c.at = start + size
	return kind, c.in[start:c.at:c.at], nil
}

// nextHeader reads the header of the next message, which is no switch. An honest process switches only to send a message:
// the callers of Next check the call after each message, and a second switch would keep them from it.
func (c *Conn) nextHeader() (kind Kind, size int, err error) {
	kind, size, err = c.readHeader()
	if err != nil || kind != KindSwitch {
		return kind, size, err
	}
	c.at += headerSize
	if err := c.switchInput(); err != nil {
		return 0, 0, err
	}
	kind, size, err = c.readHeader()
	if err == nil && kind == KindSwitch {
		err = Errorf("two switches without a message in between")
	}
	return kind, size, err
}

// readHeader reads a header, which stays the next in the buffer.
func (c *Conn) readHeader() (kind Kind, size int, err error) {
	c.resetBuffer()
	if err := c.fill(headerSize); err != nil {
		return 0, 0, err
	}
	return c.parseHeader(c.in[c.at:])
}

// HasBuffered reports whether bytes were read that Next has not returned yet. Between two calls of a link there are
// none.
func (c *Conn) HasBuffered() bool { return c.at < len(c.in) }

// Waiting reports whether the next read returns at once: the other end has sent something, or has closed. It may be called
// while no other goroutine reads.
func (c *Conn) Waiting() bool { return c.HasBuffered() || c.sock.waiting() }

// Number returns the number of the message read last.
func (c *Conn) Number() uint64 { return c.read }

func (c *Conn) parseHeader(b []byte) (Kind, int, error) {
	size, kind := binary.LittleEndian.Uint32(b), Kind(b[4])
	if b[5]|b[6]|b[7] != 0 {
		return 0, 0, Errorf("reserved bytes %x of a header are not zero", b[5:8])
	}
	if size > MaxPayload {
		return 0, 0, Errorf("%v message of %d bytes, at most %d are allowed", kind, size, MaxPayload)
	}
	c.read = binary.LittleEndian.Uint64(b[8:])
	if kind != KindCall && c.read != c.numberOf(kind) {
		return 0, 0, Errorf("%v message of another call than the one under way", kind)
	}
	return kind, int(size), kind.check(int(size))
}

// resetBuffer moves to the beginning of an exhausted buffer, and drops one made for a long message.
func (c *Conn) resetBuffer() {
	if c.at == len(c.in) {
		if c.fills {
			c.growSmall(inBuffer)
		}
		c.in, c.at = c.small[:0], 0
	}
}

// fill reads until n bytes of the present message are in the buffer.
func (c *Conn) fill(n int) error {
	for len(c.in)-c.at < n {
		if cap(c.in)-c.at < n {
			c.makeRoom(n)
		}
		got, err := c.readInput(c.in[len(c.in):cap(c.in)], n-(len(c.in)-c.at))
		if err == io.EOF && len(c.in) > c.at {
			err = ErrGone
		}
		if err != nil {
			return err
		}
		c.in = c.in[:len(c.in)+got]
		c.fills = c.fills || len(c.in) == cap(c.in)
	}
	return nil
}

// makeRoom moves the present message so that n bytes of it fit.
func (c *Conn) makeRoom(n int) {
	begun := c.in[c.at:]
	var to []byte
	switch {
	case n > inBuffer:
		to = make([]byte, 0, n) // for this message only: reading the next one begins with the small buffer
	case n > firstInBuffer || c.fills:
		c.growSmall(inBuffer)
		to = c.small
	default:
		c.growSmall(firstInBuffer)
		to = c.small
	}
	c.in, c.at = append(to, begun...), 0
}

// growSmall makes small of a size, unless it has that size. What is in it stays where it was.
func (c *Conn) growSmall(size int) {
	if cap(c.small) < size {
		c.small = make([]byte, 0, size)
	}
}
