package response

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/compress"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/pace"
)

// encoders compress the answers of all Writers: they are kept between answers.
var encoders compress.Encoders

// ErrCutOff means that an answer failed after a part of it was sent.
var ErrCutOff = errors.New("the answer was cut off")

// A Writer writes the answers of a core: one to a response of net/http, or one after the other to a connection. A long
// answer leaves in parts, and may be compressed. A Writer belongs to one goroutine.
type Writer struct {
	// fixed at creation
	out   output
	flush func(part []byte) error // send

	pace pace.Pace // of the answer under way

	// of the answer under way
	ctx     context.Context // for waits
	message *mcp.Message
	client  Client
	budget  *inflight.Budget
	begun   bool             // a part was sent
	encoder *compress.Writer // nil while the answer is not compressed
	held    int              // bytes that are counted as in flight for compression
}

// A Client has the properties of a client on which the coding depends.
type Client struct {
	Local          bool   // it is on this machine
	AcceptEncoding string // the values of the header, joined by commas; empty for none
}

// An output is where the answer to one request is written. The Writer calls deadline before each group of writes.
type output interface {
	// room returns how many bytes the output needs before a whole answer in the same buffer.
	room() int
	// outlet returns the output's functions for use before the answer, without Flush.
	outlet() mcp.ResponseStream
	// mustBeIdentity reports whether the answer cannot be compressed.
	mustBeIdentity() bool
	// deadline bounds the next writes of size bytes, until flush.
	deadline(size int, timeout time.Duration) error

	// whole writes a whole answer, which begins after room bytes of out.
	whole(out []byte, status int, coding compress.Coding) error
	// nothing writes the response to a request that its client has cancelled: an event stream without an answer, which
	// clients of every revision accept.
	nothing() error

	// begin writes what precedes the first part, Write a part, and end what follows the last.
	begin(coding compress.Coding) error
	Write(p []byte) (int, error)
	end() error
	// flush sends what was written.
	flush() error
}

// New makes a Writer of one answer to w.
func New(w http.ResponseWriter) *Writer {
	one := &struct { // in one piece of memory
		Writer
		out httpOutput
	}{out: httpOutput{makeStream(w)}}
	one.Writer.out, one.Writer.flush = &one.out, one.Writer.send
	return &one.Writer
}

// NewConn makes a Writer of answers on a connection of HTTP/1.1, one for each request that net/http did not read.
// deadline is the write deadline of c; clock formats the headers Date.
func NewConn(c net.Conn, deadline *Deadline, clock *Clock) *Writer {
	w := &Writer{out: &connOutput{
		conn: c, writeDeadline: deadline, clock: clock, abort: func() { _ = c.SetWriteDeadline(past) },
	}}
	w.flush = w.send
	return w
}

// Answer answers m, a request other than subscriptions/listen, by core. Unless the client has cancelled the request,
// the answer is one JSON body or, after notifications, the last event of a stream. After an error the response is
// incomplete, and the caller must close the connection.
func (w *Writer) Answer(ctx context.Context, core *mcp.Core, m *mcp.Message, client Client) error {
	w.ctx, w.message, w.client, w.budget, w.begun, w.encoder = ctx, m, client, core.InFlight(), false, nil
	w.pace.Begin(auth.AccountOf(ctx))
	m.DownloadLinks = true
	defer core.AfterResponse()
	defer w.release()
	outlet := w.out.outlet()
	outlet.Flush = w.flush
	if w.pace.IsActive() {
		abort := outlet.Abort
		outlet.Abort = func() { w.pace.Abort(); abort() }
	}
	answer, failure := core.Answer(ctx, core.Buffer()[:w.out.room()], m, outlet)
	defer core.Release(answer)
	if mcp.IsCancelled(ctx) {
		return w.cancel()
	}
	return w.finish(answer, failure)
}

// Refuse answers m, which the core does not get, with an error.
func (w *Writer) Refuse(core *mcp.Core, m *mcp.Message, e *mcp.Error) error {
	w.ctx, w.message, w.client, w.budget, w.begun, w.encoder = context.Background(), m, Client{Local: true}, core.InFlight(), false, nil
	w.pace.Begin(nil)
	defer w.release()
	answer := mcp.AppendError(core.Buffer()[:w.out.room()], m.ID, e)
	defer core.Release(answer)
	return w.finish(answer, e)
}

// send sends the next part of a long answer, which the guest waits for.
func (w *Writer) send(part []byte) error {
	if err := w.pace.Wait(w.ctx, len(part)); err != nil {
		return err
	}
	if !w.begun {
		w.begun = true
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.out.deadline(len(part), GuestTimeout); err != nil {
		return err
	}
	if err := w.encode(part); err != nil {
		return err
	}
	return w.out.flush()
}

func (w *Writer) begin() (err error) {
	coding := w.coding(-1)
	if err := w.out.deadline(0, GuestTimeout); err != nil {
		return err
	}
	if err := w.out.begin(coding); err != nil {
		return err
	}
	if coding != compress.Identity {
		w.encoder, err = encoders.Open(coding, w.out)
	}
	return err
}

func (w *Writer) encode(part []byte) (err error) {
	if w.encoder == nil {
		_, err = w.out.Write(part)
		return err
	}
	if _, err = w.encoder.Write(part); err != nil {
		return err
	}
	return w.encoder.Flush()
}

// finish sends what is left of the answer, which begins after room bytes. An answer that has begun and then failed is cut
// off: the client must not take it for whole.
func (w *Writer) finish(answer []byte, failure *mcp.Error) error {
	switch {
	case !w.begun:
		err := w.pace.Wait(w.ctx, len(answer)-w.out.room())
		if errors.Is(err, pace.ErrTooSlow) { // the client can still get an error
			failure, err = mcp.PacedError(), nil
			answer = mcp.AppendError(answer[:w.out.room()], w.message.ID, failure)
		}
		if err != nil {
			return err
		}
		return w.whole(answer, Status(failure))
	case failure != nil:
		return ErrCutOff
	}
	rest := answer[w.out.room():]
	if err := w.pace.Wait(w.ctx, len(rest)); err != nil {
		return err
	}
	if err := w.out.deadline(len(rest), AnswerTimeout); err != nil {
		return err
	}
	if err := w.encodeLast(rest); err != nil {
		return err
	}
	if err := w.out.end(); err != nil {
		return err
	}
	return w.out.flush()
}

func (w *Writer) encodeLast(part []byte) (err error) {
	if w.encoder == nil {
		_, err = w.out.Write(part)
		return err
	}
	if _, err = w.encoder.Write(part); err != nil {
		return err
	}
	return w.encoder.Close()
}

// cancel ends the response to a request that its client has cancelled.
func (w *Writer) cancel() error {
	if w.begun {
		return ErrCutOff
	}
	if err := w.out.deadline(0, AnswerTimeout); err != nil {
		return err
	}
	if err := w.out.nothing(); err != nil {
		return err
	}
	return w.out.flush()
}

// whole sends an answer at once.
func (w *Writer) whole(answer []byte, status int) (err error) {
	room := w.out.room()
	coding := w.coding(len(answer) - room)
	if coding != compress.Identity {
		if answer, err = encoders.Append(make([]byte, room, len(answer)/2), coding, answer[room:]); err != nil {
			return err
		}
	}
	if err := w.out.deadline(len(answer), AnswerTimeout); err != nil {
		return err
	}
	if err := w.out.whole(answer, status, coding); err != nil {
		return err
	}
	return w.out.flush()
}

// coding chooses how an answer of size bytes is compressed, and counts the memory for that; -1 is a long answer.
func (w *Writer) coding(size int) compress.Coding {
	if w.message.Binary() || w.out.mustBeIdentity() {
		return compress.Identity
	}
	var accept []string
	if w.client.AcceptEncoding != "" {
		accept = []string{w.client.AcceptEncoding}
	}
	coding := Coding(w.client.Local, accept, jsonType, size)
	if coding == compress.Identity {
		return coding
	}
	need := compressionMemory(size)
	if !w.budget.Reserve(need) {
		return compress.Identity
	}
	w.held += need
	return coding
}

// compressionMemory is how many bytes it takes to compress an answer of size bytes; -1 is a long one, which takes an
// encoder until it has ended.
func compressionMemory(size int) int {
	if size < 0 {
		return 1 << 20
	}
	return max(size/2-inflight.Free, 0)
}

// release subtracts the memory from the bound, and releases what belongs to the answer.
func (w *Writer) release() {
	w.budget.Release(w.held)
	w.ctx, w.message, w.encoder, w.held = nil, nil, nil, 0
}
