package protocol

import (
	"bytes"
	"io"
	"runtime"
)

const (
	// parentYields is how often the parent lets other goroutines run before it sleeps until the worker has written: meanwhile
	// they read and queue further calls. A worker sleeps at once: it has nothing else to do, and the parent may need its
	// processor.
	parentYields = 4
	// sleepsPerYield is how many times a reader sleeps for each time that it lets Go's scheduler run. Go's monitor thread takes a
	// goroutine that does not for 10 ms for one that computes without end: it then runs every 20 µs, and takes the processor from
	// each system call.
	sleepsPerYield = 8
)

// A link begins with its socket. Either process may then send a switch, after which its messages are in the pipe. A switch in
// the pipe leads back to the socket, where messages go that do not fit. The worker begins: until it has, the parent does not
// know that it reads the pipe.

// readInput reads from where the next message comes, of which needed bytes are missing at least.
func (c *Conn) readInput(b []byte, needed int) (int, error) {
	p := c.pipes
	if p == nil || !p.inputPiped && len(p.early) == 0 {
		return c.sock.read(b)
	}
	if !c.sock.enter() {
		return 0, ErrClosed
	}
	defer c.sock.leave()
	if !p.inputPiped {
		return c.readEarly(b[:needed])
	}
	return c.readPipe(b)
}

// readEarly reads what came by the socket before its turn. The caller asks for no more than it needs: a switch then has none
// of these bytes after it, which would have to be kept once more.
func (c *Conn) readEarly(b []byte) (int, error) {
	if c.sock.isShutdown.Load() {
		return 0, ErrClosed
	}
	n := copy(b, c.pipes.early)
	c.pipes.early = c.pipes.early[n:]
	return n, nil
}

// readPipe returns at least one byte, or an error. The caller keeps the socket open.
func (c *Conn) readPipe(b []byte) (int, error) {
	in := &c.pipes.in
	for try := 0; ; try++ {
		if c.sock.isShutdown.Load() { // which keeps no process from writing to a pipe
			return 0, ErrClosed
		}
		n, err := in.read(b)
		switch {
		case n > 0 || err != nil:
			c.pipes.idleBells = 0
			return n, err
		case try < c.pipes.yields:
			runtime.Gosched()
			continue
		case !in.fallAsleep():
			continue
		}
		err = c.awaitBell()
		if err == io.EOF {
			if n, err := in.read(b); n > 0 || err != nil { // written before the end
				return n, err
			}
		}
		if err != nil {
			return 0, err
		}
	}
}

// awaitBell sleeps until a byte comes by the socket. An honest writer sends one for bytes that the reader has read meanwhile,
// but then writes again before it sends another.
func (c *Conn) awaitBell() error {
	if c.pipes.sleeps++; c.pipes.sleeps%sleepsPerYield == 0 {
		runtime.Gosched()
	}
	var bell [1]byte
	if _, err := c.sock.read(bell[:]); err != nil {
		return err
	}
	if c.pipes.idleBells++; c.pipes.idleBells > 2 {
		return Errorf("woken for nothing")
	}
	return nil
}

// switchInput handles a switch of the other process. The bytes of the socket after a switch to the pipe belong to the time
// after the next switch, which is in the pipe by then. If there are any, early is empty: the socket is read after it.
func (c *Conn) switchInput() error {
	p, after := c.pipes, c.in[c.at:]
	switch {
	case p == nil:
		return Errorf("unexpected %v message", KindSwitch)
	case p.inputPiped && len(after) > 0:
		return Errorf("%d bytes follow a switch in a pipe", len(after))
	case len(after) > 0:
		p.early = bytes.Clone(after)
		c.in = c.in[:c.at]
	}
	p.inputPiped = !p.inputPiped
	p.isShared.Store(true)
	return nil
}

// send sends messages by the pipe or the socket, and returns when they are there. The caller holds sending.
func (c *Conn) send(b []byte) error {
	p := c.pipes
	if p == nil || !p.isShared.Load() {
		return c.sock.write(b)
	}
	if !c.sock.enter() {
		return ErrClosed
	}
	defer c.sock.leave()
	if c.sock.isShutdown.Load() {
		return ErrClosed
	}
	if !p.outputPiped {
		isFree, err := p.out.isFreeFor(len(b))
		if err != nil {
			return err
		}
		if !isFree {
			return c.sock.write(b)
		}
		if err := c.sock.write(appendHeader(nil, KindSwitch, 0, 0)); err != nil {
			return err
		}
		p.outputPiped = true
	}
	return c.sendPiped(b)
}

// sendPiped sends messages by the pipe, or switches to the socket if they do not fit.
func (c *Conn) sendPiped(b []byte) error {
	p := c.pipes
	fits, err := p.out.write(b)
	if err != nil {
		return err
	}
	if !fits {
		if err := p.out.writeSwitch(); err != nil {
			return err
		}
		p.outputPiped = false
	}
	if err := c.wakeReader(); err != nil || fits {
		return err
	}
	return c.sock.write(b)
}

// wakeReader wakes the reader of the pipe if it sleeps. It does not block.
func (c *Conn) wakeReader() error {
	if !c.pipes.out.wake() {
		return nil
	}
	return c.sock.ring()
}

// TryFlush sends the queued messages by the pipe, without blocking. It reports false if they must take [Conn.Flush]: they do
// not fit, the connection has failed, or another goroutine sends.
func (c *Conn) TryFlush() bool {
	p := c.pipes
	if p == nil || !c.sending.TryLock() {
		return false
	}
	defer c.sending.Unlock()
	if !p.outputPiped || c.failure() != nil || !c.sock.enter() {
		return false
	}
	defer c.sock.leave()
	c.mu.Lock()
	fits, err := p.out.write(c.out)
	if fits {
		c.out = c.out[:0]
	}
	c.mu.Unlock()
	if err != nil || !fits {
		return false
	}
	return !c.refuse(c.wakeReader())
}
