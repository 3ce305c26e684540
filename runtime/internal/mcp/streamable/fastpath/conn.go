package fastpath

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

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// A fastConn is a connection under net/http. When net/http reads the next request, Read answers plain ones itself, on
// the goroutine that net/http has for the connection. net/http gets only the others, each whole and without a byte of
// the next. So its buffer never has the beginning of a request that Read answers.
type fastConn struct {
	net.Conn
	// fixed at creation
	server *Server
	local  netip.Addr       // of this machine; zero when unknown
	client string           // as [mcp.ClientOf] names it
	remote string           // address and port
	proxy  netip.Addr       // of the trusted proxy that has connected; zero for any other client
	writer *response.Writer // of answers to plain requests

	// owned by the goroutine that reads, which is one at a time
	buf           []byte    // bytes that were read and belong to no earlier request; nil for none
	between       bool      // net/http waits for the next request
	left          int       // bytes that net/http has still to read of its request; -1 for all that come
	began         time.Time // when the first byte of the request in buf came; zero for none
	readDeadline  response.Deadline
	writeDeadline response.Deadline
	disconnect    disconnectWatch
	last          lastRequest
	lastHead      lastHead
	handler       *streamable.Handler // of the plain request in buf
	message       mcp.Message

	served   bool // a request was answered here
	lineEnds int  // characters of line ends that may still precede the next request
	skipped  int  // characters of line ends that did

	answering  sync.Mutex // held while a request is answered here
	closing    atomic.Bool
	reading    atomic.Uint32 // what the goroutine waits for: a readX
	waitsSince atomic.Int64  // when it began to wait for a request or its rest, in nanoseconds since 1970; 0 while it does not
}

// setState follows what net/http does with the connection.
func (c *fastConn) setState(state http.ConnState) {
	switch state {
	case http.StateNew:
		c.between = true
	case http.StateActive: // it has the head of a request
		c.waitsSince.Store(0)
	case http.StateIdle:
		c.waitsSince.Store(time.Now().UnixNano())
		c.between, c.skipped = c.left == 0, 0
		if len(c.buf) > 0 {
			c.began = time.Now() // net/http had not asked for it before
		}
	case http.StateHijacked:
		c.between, c.left = false, -1
	}
}

// Read implements [net.Conn].
func (c *fastConn) Read(p []byte) (int, error) {
	for c.between {
		if c.closing.Load() || c.served && c.server.stopping.Load() {
			_ = c.Close() // Close or Shutdown was called meanwhile
			return 0, net.ErrClosed
		}
		h, whole := c.next()
		switch {
		case whole && h.plain && c.serve(&h):
			c.take(h.size + h.body)
			c.served, c.lineEnds, c.skipped = true, maxLineEnds, 0
		case whole || h.size == 0 && len(c.buf) >= maxHead:
			c.passThrough(&h)
		default:
			if err := c.more(&h); err != nil {
				if len(c.buf) == 0 || c.isStub() || h.size == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
					return 0, err
				}
				c.passThrough(&head{}) // net/http gets the error, too
			}
		}
	}
	return c.readThrough(p)
}

// serve answers a request, as answer does. Meanwhile the connection counts as busy, and is not closed for another one.
func (c *fastConn) serve(h *head) bool {
	c.waitsSince.Store(0)
	return c.answer(h)
}

// next parses the head of the request at the beginning of c.buf. whole reports that no more bytes are needed to choose
// who answers. The head is valid until the next call.
func (c *fastConn) next() (h head, whole bool) {
	c.skipLineEnds()
	if c.isStub() {
		return head{}, false
	}
	h, again := c.lastHead.begins(c.buf)
	if !again {
		end := bytes.Index(c.buf, []byte("\r\n\r\n"))
		if end < 0 { // net/http may refuse an unusual line before the next comes
			lines := c.buf[:bytes.LastIndexByte(c.buf, '\n')+1]
			return head{}, len(lines) > 0 && !parseHead(lines).lengthKnown
		}
		h = c.lastHead.parse(c.buf[:end+4])
	}
	h.plain = h.plain && !c.server.drain.HasBegun() && c.isForHandler(&h)
	return h, !h.plain || len(c.buf) >= h.size+h.body
}

// isForHandler finds the endpoint of a request, and reports whether it would accept the request.
func (c *fastConn) isForHandler(h *head) (ok bool) {
	c.handler, ok = c.server.router.Find(h.host, h.path)
	return ok && int64(h.body) <= min(maxBody, c.handler.MaxRequestBytes()) && c.allows(h) && c.identify(h)
}

// maxLineEnds is how many characters of line ends net/http ignores after the body of a POST.
const maxLineEnds = 4

func (c *fastConn) skipLineEnds() {
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

// stub is how many bytes of a further request net/http waits for before it parses them. If fewer come, it closes the
// connection without an answer.
const stub = 4

// isStub reports whether fewer bytes than stub have come of a further request.
func (c *fastConn) isStub() bool { return c.served && c.skipped+len(c.buf) < stub }

// passThrough passes a request to net/http. If it is uncertain where the request ends, net/http gets all later bytes. The connection
// counts as waiting until net/http has the whole head.
func (c *fastConn) passThrough(h *head) {
	if h.size > 0 {
		c.waitsSince.Store(0)
	} else {
		c.waitsSince.CompareAndSwap(0, time.Now().UnixNano())
	}
	c.lastHead = lastHead{}
	c.between, c.left = false, -1
	if h.lengthKnown {
		c.left = h.size + h.body
	}
	c.began = time.Time{}
	c.writeDeadline.Clear(c.Conn.SetWriteDeadline)
}

// readThrough lets net/http read its request.
func (c *fastConn) readThrough(p []byte) (n int, err error) {
	if c.left == 0 {
		return c.readWhileAnswering(p)
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

// readWhileAnswering lets net/http notice that the client closes the connection while its request is answered. Bytes
// that come meanwhile belong to the next request: they stay in buf, up to maxHead.
func (c *fastConn) readWhileAnswering(p []byte) (int, error) {
	for len(c.buf) < maxHead {
		_, err := c.fill(len(c.buf) + 1)
		if errors.Is(err, io.EOF) && len(c.buf) > 0 {
			return 0, nil // the client has closed its side alone: net/http stops reading
		}
		if err != nil {
			return 0, err
		}
	}
	c.left = -1
	return c.readThrough(p)
}

// take removes n bytes from buf.
func (c *fastConn) take(n int) {
	rest := c.buf[n:]
	if c.began = (time.Time{}); len(rest) > 0 {
		c.began = time.Now()
	}
	if len(rest) == 0 && cap(c.buf) > typicalRequest {
		c.buf = nil
		return
	}
	c.buf = append(c.buf[:0], rest...)
}

// typicalRequest is the size of most requests in bytes, and of the buffer that is stored for the next one.
const typicalRequest = 2 << 10

// Reasons for which a connection waits while no request is answered.
const (
	readNothing uint32 = iota
	readRequest        // a request of which nothing has come
	readRest           // the rest of one
)

// restTime is how long the rest of a request may take when the server is shut down.
const restTime = time.Second

// more reads bytes of the request that h begins, until the deadline for its head.
func (c *fastConn) more(h *head) error {
	now := time.Now()
	if err := c.setDeadline(now); err != nil {
		return err
	}
	state := readRest
	if len(c.buf) == 0 {
		state = readRequest
	}
	if c.reading.Store(state); state == readRequest && c.server.stopping.Load() {
		return net.ErrClosed
	}
	if len(c.buf) == 0 || c.waitsSince.Load() == 0 {
		c.waitsSince.Store(now.UnixNano())
	}
	n, err := c.fill(max(len(c.buf)+1, h.size+h.body))
	c.reading.Store(readNothing)
	if n > 0 {
		return nil
	}
	return err
}

// fill reads once, into a buffer with room for want bytes.
func (c *fastConn) fill(want int) (int, error) {
	if cap(c.buf) < max(want, typicalRequest) {
		c.buf = append(make([]byte, 0, max(want, 2*cap(c.buf), typicalRequest)), c.buf...)
	}
	n, err := c.Conn.Read(c.buf[len(c.buf):cap(c.buf)])
	if n > 0 && len(c.buf) == 0 {
		c.began = time.Now()
	}
	c.buf = c.buf[:len(c.buf)+n]
	return n, err
}

func (c *fastConn) setDeadline(now time.Time) error {
	if c.began.IsZero() {
		return c.readDeadline.ExtendFrom(now, c.Conn.SetReadDeadline, c.server.cfg.Idle)
	}
	return c.readDeadline.Set(c.Conn.SetReadDeadline, c.began.Add(c.server.cfg.HeaderTimeout))
}

// SetReadDeadline implements [net.Conn].
func (c *fastConn) SetReadDeadline(t time.Time) error {
	c.readDeadline.Forget()
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements [net.Conn].
func (c *fastConn) SetDeadline(t time.Time) error {
	c.readDeadline.Forget()
	return c.Conn.SetDeadline(t)
}

// Close implements [net.Conn]. A plain request under way is answered first: net/http does not know of it, and closes the
// connection as idle.
func (c *fastConn) Close() error {
	c.closing.Store(true)
	if !c.answering.TryLock() {
		return nil
	}
	defer c.answering.Unlock()
	if c.server.remove(c) {
		defer c.server.cfg.Shared.Closed(c.server)
	}
	return c.Conn.Close()
}

// Detach returns the connection without this one, to a handler that has taken it from net/http.
func (c *fastConn) Detach() net.Conn {
	if !c.server.remove(c) { // it was closed
		return c.Conn
	}
	return c.server.cfg.Shared.Counted(c.Conn, c.server)
}

// closeIdle closes a connection on which no request is under way. The rest of a request that has begun gets restTime.
// net/http would keep a connection without any request open for 5 s when the server is shut down.
func (c *fastConn) closeIdle() {
	switch c.reading.Load() {
	case readRequest:
		_ = c.Close()
	case readRest:
		_ = c.Conn.SetReadDeadline(time.Now().Add(restTime)) // on a broken connection the read fails, too
	}
}

// CloseWrite lets net/http close one direction, so that the client can read the last answer.
func (c *fastConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// waitAnswered waits until no plain request is under way.
func (c *fastConn) waitAnswered() {
	c.answering.Lock()
	defer c.answering.Unlock()
}
