package response

import (
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compress"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// headRoom is the most bytes that a head takes. It precedes each answer, so that both leave in one write.
const headRoom = 320

// A connOutput writes responses to a connection. Long ones leave in chunks (RFC 9112 §7.1).
type connOutput struct {
	// fixed at creation
	conn          net.Conn
	writeDeadline *Deadline
	clock         *Clock
	abort         func()
}

func (o *connOutput) room() int { return headRoom }

// outlet implements [output]. Requests on this path ask for no notifications before the answer.
func (o *connOutput) outlet() mcp.ResponseStream { return mcp.ResponseStream{Abort: o.abort} }

func (o *connOutput) mustBeIdentity() bool { return false }

func (o *connOutput) deadline(size int, timeout time.Duration) error {
	if size <= MinRate {
		return o.writeDeadline.Extend(o.conn.SetWriteDeadline, timeout)
	}
	return o.writeDeadline.Set(o.conn.SetWriteDeadline, time.Now().Add(Timeout(size, timeout)))
}

func (o *connOutput) whole(answer []byte, status int, coding compress.Coding) error {
	var space [headRoom]byte
	head := append(o.appendHead(space[:0], status, coding), "Content-Length: "...)
	head = append(strconv.AppendInt(head, int64(len(answer)-headRoom), 10), "\r\n\r\n"...)
	begin := headRoom - len(head)
	copy(answer[begin:], head)
	_, err := o.conn.Write(answer[begin:])
	return err
}

func (o *connOutput) nothing() error {
	head := append(make([]byte, 0, headRoom), "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n"+
		"Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\nDate: "...)
	head = append(head, o.clock.Now()...)
	_, err := o.conn.Write(append(head, "\r\n\r\n"...))
	return err
}

func (o *connOutput) begin(coding compress.Coding) error {
	head := o.appendHead(make([]byte, 0, headRoom), http.StatusOK, coding)
	_, err := o.conn.Write(append(head, "Transfer-Encoding: chunked\r\n\r\n"...))
	return err
}

// Write implements [output].
func (o *connOutput) Write(p []byte) (int, error) { return chunkWriter{o.conn}.Write(p) }

func (o *connOutput) end() error {
	_, err := o.conn.Write([]byte(lastChunk))
	return err
}

func (o *connOutput) flush() error { return nil }

// appendHead appends the head of a response, but for the header with the length of the body and the empty line.
func (o *connOutput) appendHead(b []byte, status int, coding compress.Coding) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\nCache-Control: no-store\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nDate: "...)
	b = append(b, o.clock.Now()...)
	if coding != compress.Identity {
		b = append(b, "\r\nVary: Accept-Encoding\r\nContent-Encoding: "...)
		b = append(b, coding.String()...)
	}
	return append(b, "\r\n"...)
}

// A Clock formats the time for the header Date, once for each second. The zero Clock is ready, and safe for concurrent
// use.
type Clock struct{ last atomic.Pointer[second] }

type second struct {
	unix int64
	text string // as HTTP writes it
}

// Now returns the present time for the header Date.
func (c *Clock) Now() string {
	now := time.Now()
	if s := c.last.Load(); s != nil && s.unix == now.Unix() {
		return s.text
	}
	s := &second{unix: now.Unix(), text: now.UTC().Format(http.TimeFormat)}
	c.last.Store(s)
	return s.text
}
