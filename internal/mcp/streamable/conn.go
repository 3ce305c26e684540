package streamable

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

// A conn is a connection as net/http sees it. When net/http reads the next request, plain ones are answered here, within
// Read, on the goroutine that net/http keeps for the connection; it gets to see the others only, each whole and no byte
// more, so that what it has buffered never holds the beginning of a request that is answered here.
type conn struct {
	net.Conn
	// fixed at creation
	server *Server
	local  netip.Addr // of this machine; zero when unknown

	// owned by the goroutine that reads, which is one at a time
	buf     []byte    // read and not yet taken; nil for none
	between bool      // net/http waits for the next request
	left    int       // bytes that net/http has still to read of its request; -1 for all that come
	began   time.Time // the first byte of the request in buf; zero for none
	read    response.Deadline
	wrote   response.Deadline
	writer  *response.Writer
	peer    peer
	said    said
	message mcp.Message

	served   bool // a request was answered here
	lineEnds int  // characters of them that may still precede the next request
	skipped  int  // of those that were there

	answering sync.Mutex // held while a request is answered here
	closing   atomic.Bool
	reading   atomic.Uint32 // what is waited for: a readX

	from  string       // the client, as [mcp.ClientOf] names it; fixed at creation
	since atomic.Int64 // when it began to wait for a request or its rest, in nanoseconds since 1970; 0 while it does not
}

// said is what the last request of a connection said. Most say the same again, which need not be looked at twice.
type said struct {
	admitted     bool // with this host and accept
	host, accept string

	session, version string
}

// state follows what net/http does with a connection.
func (c *conn) state(state http.ConnState) {
	switch state {
	case http.StateNew:
		c.between = true
	case http.StateIdle:
		c.between, c.skipped = c.left == 0, 0
		if len(c.buf) > 0 {
			c.began = time.Now() // before, nobody would have had time for it
		}
	case http.StateHijacked:
		c.between, c.left = false, -1
	}
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	for c.between {
		if c.closing.Load() || c.served && c.server.stopping.Load() {
			_ = c.Close() // it was to be closed while a request was answered
			return 0, net.ErrClosed
		}
		h, whole := c.next()
		switch {
		case whole && h.plain && c.serve(&h):
			c.take(h.size + h.body)
			c.served, c.lineEnds, c.skipped = true, maxLineEnds, 0
		case whole || h.size == 0 && len(c.buf) >= maxHead:
			c.handOver(&h)
		default:
			if err := c.more(&h); err != nil {
				if len(c.buf) == 0 || c.isStub() || h.size == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
					return 0, err
				}
				c.handOver(&head{}) // net/http meets the error too
			}
		}
	}
	return c.pass(p)
}

// serve answers a request, as answer does, while the connection cannot be crowded out.
func (c *conn) serve(h *head) bool {
	c.since.Store(0)
	return c.answer(h)
}

// next looks at the request that c.buf begins with. It is whole when all is there that is to be looked at.
func (c *conn) next() (h head, whole bool) {
	c.skipLineEnds()
	if c.isStub() {
		return head{}, false
	}
	end := bytes.Index(c.buf, []byte("\r\n\r\n"))
	if end < 0 { // lines that are odd are net/http's, which may refuse them before the others come
		lines := c.buf[:bytes.LastIndexByte(c.buf, '\n')+1]
		return head{}, len(lines) > 0 && !parseHead(lines).framed
	}
	h = parseHead(c.buf[:end+4])
	h.plain = h.plain && int64(h.body) <= min(maxBody, c.server.handler.cfg.MaxRequestBytes) && c.admits(&h)
	return h, !h.plain || len(c.buf) >= h.size+h.body
}

// maxLineEnds is how many characters of line ends net/http puts up with after the body of a POST.
const maxLineEnds = 4

func (c *conn) skipLineEnds() {
	for c.lineEnds > 0 && len(c.buf) > 0 {
		if c.buf[0] != '\r' && c.buf[0] != '\n' {
			c.lineEnds = 0
			return
		}
		c.take(1)
		c.lineEnds--
		c.skipped++
	}
}

// stub is how many bytes of a further request net/http waits for before it looks at them. Where fewer come, it closes the
// connection without a word.
const stub = 4

// isStub reports whether so little of a further request has come.
func (c *conn) isStub() bool { return c.served && c.skipped+len(c.buf) < stub }

// handOver leaves a request to net/http. When it is not certain where that ends, so is all that follows.
func (c *conn) handOver(h *head) {
	c.since.Store(0)
	c.between, c.left = false, -1
	if h.framed {
		c.left = h.size + h.body
	}
	c.began = time.Time{}
	c.wrote.Clear(c.Conn.SetWriteDeadline)
}

// pass lets net/http read its request.
func (c *conn) pass(p []byte) (n int, err error) {
	if c.left == 0 {
		return c.wait(p)
	}
	if c.left > 0 {
		p = p[:min(len(p), c.left)]
	}
	if len(c.buf) > 0 {
		n = copy(p, c.buf)
		c.take(n)
	} else {
		n, err = c.Conn.Read(p)
	}
	if c.left > 0 {
		c.left -= n
	}
	return n, err
}

// wait lets net/http find out, while its request is being answered, whether the client is still there. What that sends
// meanwhile is the next request: it stays here, as much of it as is looked at.
func (c *conn) wait(p []byte) (int, error) {
	for len(c.buf) < maxHead {
		_, err := c.fill(len(c.buf) + 1)
		if errors.Is(err, io.EOF) && len(c.buf) > 0 {
			return 0, nil // it says no more, but has not gone: net/http stops looking
		}
		if err != nil {
			return 0, err
		}
	}
	c.left = -1
	return c.pass(p)
}

// take drops what has been dealt with.
func (c *conn) take(n int) {
	rest := c.buf[n:]
	if c.began = (time.Time{}); len(rest) > 0 {
		c.began = time.Now()
	}
	if len(rest) == 0 && cap(c.buf) > usualRequest {
		c.buf = nil
		return
	}
	c.buf = append(c.buf[:0], rest...)
}

// usualRequest is the bytes most requests have, and what is kept for the next one.
const usualRequest = 2 << 10

// What a connection waits for, on which no request is being answered.
const (
	readNothing uint32 = iota
	readRequest        // a request of which nothing has come
	readRest           // the rest of one
)

// restTime is how long the rest of a request may take when the server is shut down.
const restTime = time.Second

// more reads what has come of the request that h begins, in the time that is left for it.
func (c *conn) more(h *head) error {
	now := time.Now()
	if err := c.setDeadline(now); err != nil {
		return err
	}
	waitsFor := readRest
	if len(c.buf) == 0 {
		waitsFor = readRequest
	}
	if c.reading.Store(waitsFor); waitsFor == readRequest && c.server.stopping.Load() {
		return net.ErrClosed
	}
	if len(c.buf) == 0 || c.since.Load() == 0 {
		c.since.Store(now.UnixNano())
	}
	n, err := c.fill(max(len(c.buf)+1, h.size+h.body))
	c.reading.Store(readNothing)
	if n > 0 {
		return nil
	}
	return err
}

// fill reads once, into a buffer with room for want bytes.
func (c *conn) fill(want int) (int, error) {
	if cap(c.buf) < max(want, usualRequest) {
		c.buf = append(make([]byte, 0, max(want, 2*cap(c.buf), usualRequest)), c.buf...)
	}
	n, err := c.Conn.Read(c.buf[len(c.buf):cap(c.buf)])
	if n > 0 && len(c.buf) == 0 {
		c.began = time.Now()
	}
	c.buf = c.buf[:len(c.buf)+n]
	return n, err
}

func (c *conn) setDeadline(now time.Time) error {
	if c.began.IsZero() {
		return c.read.ExtendFrom(now, c.Conn.SetReadDeadline, c.server.cfg.Idle)
	}
	return c.read.Set(c.Conn.SetReadDeadline, c.began.Add(c.server.cfg.HeaderTimeout))
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error {
	c.read.Forget()
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	c.read.Forget()
	return c.Conn.SetDeadline(t)
}

// Close implements [net.Conn]. A request that is being answered is answered first: net/http, which does not know of it,
// takes the connection for idle.
func (c *conn) Close() error {
	c.closing.Store(true)
	if !c.answering.TryLock() {
		return nil
	}
	defer c.answering.Unlock()
	c.server.forget(c)
	return c.Conn.Close()
}

// Detach gives the connection without this one, to a handler that has taken it from net/http.
func (c *conn) Detach() net.Conn {
	c.server.forget(c)
	return c.Conn
}

// dismiss closes a connection on which no request is under way, and leaves the rest of a request that has begun restTime.
// Where net/http has seen no request yet, it would leave the connection open for 5 s when the server is shut down.
func (c *conn) dismiss() {
	switch c.reading.Load() {
	case readRequest:
		_ = c.Close()
	case readRest:
		_ = c.Conn.SetReadDeadline(time.Now().Add(restTime)) // a connection that fails is closed
	}
}

// CloseWrite is what net/http looks for, so that a client can read what it was sent last.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// await waits until no request is being answered.
func (c *conn) await() {
	c.answering.Lock()
	defer c.answering.Unlock()
}
