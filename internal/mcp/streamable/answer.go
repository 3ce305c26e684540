package streamable

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/internal/compress"
	"github.com/wasmres/wasmres/internal/inflight"
	"github.com/wasmres/wasmres/internal/mcp"
)

// answer runs a request. Its answer is one JSON body, unless something had to be told before.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
	x := exchange{handler: h, request: r, message: m, stream: newStream(w)}
	m.Links = true
	defer h.cfg.Core.AfterResponse()
	defer x.free()
	out, failure := h.cfg.Core.Answer(r.Context(), h.cfg.Core.Buffer(), m, mcp.Outlet{
		Notify: x.notify, Flush: x.flush, Abort: func() { abort(x.stream.control) },
	})
	defer h.cfg.Core.Release(out)
	if mcp.IsCancelled(r.Context()) {
		x.end()
	} else {
		x.finish(out, failure)
	}
	setDeadline(x.stream.control, 0, answerPatience)
	_ = x.stream.control.Flush() // the client may have gone
	_ = x.stream.control.SetWriteDeadline(time.Time{})
}

// An exchange is an answer on its way. A long one leaves a part at a time: as it is, or, when something was told before,
// within an event.
type exchange struct {
	// fixed at creation
	handler *Handler
	request *http.Request
	message *mcp.Message
	stream  *stream

	began   bool             // a part has left
	encoder *compress.Writer // nil for an answer that is not compressed
	held    int              // bytes of the encoder, or of the compressed answer, that are counted as in flight
}

func (x *exchange) notify(method string, params json.RawMessage) error {
	return x.stream.send(mcp.AppendNotification(nil, method, params), guestPatience)
}

// flush sends the next part of a long answer.
func (x *exchange) flush(part []byte) error {
	if !x.began {
		x.began = true
		if err := x.begin(); err != nil {
			return err
		}
	}
	return x.write(part, guestPatience)
}

// begin sends what stands before the first part.
func (x *exchange) begin() (err error) {
	if x.stream.begun {
		return x.write([]byte(eventHead), guestPatience)
	}
	header := x.stream.w.Header()
	header.Set("Content-Type", jsonType)
	header.Set("Cache-Control", "no-store")
	if coding := x.coding(header, -1); coding != compress.Identity {
		x.encoder, err = x.handler.encoders.Open(coding, x.stream.w)
	}
	return err
}

// free gives back what the answer holds beside its buffer.
func (x *exchange) free() { x.handler.cfg.Core.InFlight().Release(x.held) }

// finish sends what is left of the answer. One that has begun and then failed is cut off, so that nobody takes it for
// whole.
func (x *exchange) finish(rest []byte, failure *mcp.Error) {
	switch {
	case !x.began && x.stream.begun:
		_ = x.stream.send(rest, answerPatience) // the client may have gone
	case !x.began:
		x.whole(rest, status(failure))
	case failure != nil:
		panic(http.ErrAbortHandler)
	case x.stream.begun:
		_ = x.write(append(rest, eventTail...), answerPatience) // likewise
	default:
		_ = x.write(rest, answerPatience) // likewise
		if x.encoder != nil {
			_ = x.encoder.Close() // likewise
		}
	}
}

// end ends the response to a request that its client has cancelled: an event stream without an answer, which clients of
// every revision take. Other content would have to be an answer. An answer that has begun is cut off.
func (x *exchange) end() {
	switch {
	case x.began:
		panic(http.ErrAbortHandler)
	case !x.stream.begun:
		setEventHeaders(x.stream.w.Header())
		x.stream.w.Header().Set("Content-Length", "0")
		x.stream.w.WriteHeader(http.StatusOK)
	}
}

// whole sends an answer at once.
func (x *exchange) whole(out []byte, status int) {
	coding := x.coding(x.stream.w.Header(), len(out))
	if coding != compress.Identity {
		var err error
		if out, err = x.handler.encoders.Append(make([]byte, 0, len(out)/2), coding, out); err != nil {
			panic(err) // the server answers for us, and logs it
		}
	}
	writeJSON(x.stream.w, status, out)
}

// coding chooses how an answer of size bytes is compressed, and announces it; -1 is large.
func (x *exchange) coding(header http.Header, size int) compress.Coding {
	if x.message.Binary() {
		return compress.Identity
	}
	coding := x.handler.coding(x.request, jsonType, size)
	if coding != compress.Identity && !x.hold(compressing(size)) {
		coding = compress.Identity
	}
	if coding != compress.Identity {
		announce(header, coding)
	}
	return coding
}

// hold counts n bytes as in flight, if there is room for them.
func (x *exchange) hold(n int) bool {
	if !x.handler.cfg.Core.InFlight().Reserve(n) {
		return false
	}
	x.held += n
	return true
}

// compressing is how many bytes it takes to compress an answer of size bytes; -1 is large, and takes an encoder for as
// long as the answer lasts.
func compressing(size int) int {
	if size < 0 {
		return 1 << 20
	}
	return max(size/2-inflight.Free, 0)
}

// write sends the next part, if the client takes it in time.
func (x *exchange) write(p []byte, patience time.Duration) error {
	setDeadline(x.stream.control, len(p), patience)
	defer x.stream.control.SetWriteDeadline(time.Time{})
	if err := x.encode(p); err != nil {
		return err
	}
	return x.stream.control.Flush()
}

func (x *exchange) encode(p []byte) (err error) {
	if x.encoder == nil {
		_, err = x.stream.w.Write(p)
		return err
	}
	if _, err = x.encoder.Write(p); err != nil {
		return err
	}
	return x.encoder.Flush()
}
