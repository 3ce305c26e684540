package streamable

import (
	"context"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/internal/compress"
	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
)

// room is what a head takes at most, in bytes. It stands before each answer, so that both leave in one write.
const room = 320

// A reply is the response to a plain request, on its way. A long one leaves in chunks (RFC 9112 §7.1).
type reply struct {
	// fixed at creation
	conn    *conn
	message *mcp.Message
	accepts string // codings, as the client says it

	began   bool             // a part has left
	encoder *compress.Writer // nil for a response that is not compressed
	held    int              // bytes of the encoder, or of the compressed answer, that are counted as in flight
}

// flush sends the next part of a long answer.
func (x *reply) flush(part []byte) error {
	if !x.began {
		x.began = true
		if err := x.begin(); err != nil {
			return err
		}
	}
	if err := x.within(guestPatience, len(part)); err != nil {
		return err
	}
	if x.encoder == nil {
		_, err := chunks{x.conn.Conn}.Write(part)
		return err
	}
	if _, err := x.encoder.Write(part); err != nil {
		return err
	}
	return x.encoder.Flush()
}

// begin sends the head of a response in chunks.
func (x *reply) begin() (err error) {
	coding := x.coding(-1)
	head := x.appendHead(make([]byte, 0, room), 200, coding)
	if err := x.within(guestPatience, len(head)); err != nil {
		return err
	}
	if _, err := x.conn.Conn.Write(append(head, "Transfer-Encoding: chunked\r\n\r\n"...)); err != nil {
		return err
	}
	if coding != compress.Identity {
		x.encoder, err = x.conn.server.handler.encoders.Open(coding, chunks{x.conn.Conn})
	}
	return err
}

// finish sends the answer, which stands in out after room for its head, or what is left of it. One that has begun and
// then failed is cut off, so that nobody takes it for whole.
func (x *reply) finish(out []byte, failure *mcp.Error) error {
	switch {
	case !x.began:
		return x.whole(out, status(failure))
	case failure != nil:
		return failure
	}
	if len(out) > room {
		if err := x.flush(out[room:]); err != nil {
			return err
		}
	}
	if err := x.within(answerPatience, 0); err != nil {
		return err
	}
	if x.encoder != nil {
		if err := x.encoder.Close(); err != nil {
			return err
		}
	}
	_, err := x.conn.Conn.Write([]byte("0\r\n\r\n"))
	return err
}

// close ends the response: with the answer, unless the client has cancelled the request.
func (x *reply) close(ctx context.Context, out []byte, failure *mcp.Error) error {
	if mcp.IsCancelled(ctx) {
		return x.end()
	}
	return x.finish(out, failure)
}

// end ends the response to a request that its client has cancelled, as [exchange.end] does.
func (x *reply) end() error {
	if x.began {
		return mcp.ErrCancelled
	}
	if err := x.within(answerPatience, 0); err != nil {
		return err
	}
	_, err := x.conn.Conn.Write(x.conn.server.appendNoAnswer(nil))
	return err
}

// whole sends an answer at once.
func (x *reply) whole(out []byte, status int) (err error) {
	coding := x.coding(len(out) - room)
	if coding != compress.Identity {
		if out, err = x.conn.server.handler.encoders.Append(make([]byte, room, len(out)/2), coding, out[room:]); err != nil {
			return err
		}
	}
	var space [room]byte
	head := append(x.appendHead(space[:0], status, coding), "Content-Length: "...)
	head = append(strconv.AppendInt(head, int64(len(out)-room), 10), "\r\n\r\n"...)
	if err := x.within(answerPatience, len(out)); err != nil {
		return err
	}
	begin := room - len(head)
	copy(out[begin:], head)
	_, err = x.conn.Conn.Write(out[begin:])
	return err
}

// coding is how an answer of size bytes is to be compressed; -1 is large.
func (x *reply) coding(size int) compress.Coding {
	if x.message.Binary() {
		return compress.Identity
	}
	coding := codingFor(x.conn.local.IsLoopback(), []string{x.accepts}, jsonType, size)
	if coding == compress.Identity {
		return coding
	}
	more := compressing(size)
	if !x.budget().Reserve(more) {
		return compress.Identity
	}
	x.held += more
	return coding
}

func (x *reply) budget() *inflight.Budget { return x.conn.server.handler.cfg.Core.InFlight() }

// free gives back what the reply holds beside the buffer of the answer.
func (x *reply) free() { x.budget().Release(x.held) }

// appendHead appends the head of a response up to where it says how long that is.
func (x *reply) appendHead(b []byte, status int, coding compress.Coding) []byte {
	b = x.conn.server.appendHead(b, status)
	if coding == compress.Identity {
		return b
	}
	b = append(b, "Vary: Accept-Encoding\r\nContent-Encoding: "...)
	return append(append(b, coding.String()...), "\r\n"...)
}

// within bounds the write of size bytes that follows.
func (x *reply) within(patience time.Duration, size int) error {
	if size <= slowest {
		return x.conn.wrote.extend(x.conn.Conn.SetWriteDeadline, patience)
	}
	at := time.Now().Add(patience + time.Duration(size/slowest)*time.Second)
	return x.conn.wrote.set(x.conn.Conn.SetWriteDeadline, at)
}

// chunks writes each piece as a chunk.
type chunks struct{ to net.Conn }

var _ io.Writer = chunks{}

// Write implements [io.Writer].
func (c chunks) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // an empty chunk would be the last
	}
	var space [18]byte
	pieces := net.Buffers{append(strconv.AppendInt(space[:0], int64(len(p)), 16), "\r\n"...), p, []byte("\r\n")}
	if _, err := pieces.WriteTo(c.to); err != nil {
		return 0, err
	}
	return len(p), nil
}
