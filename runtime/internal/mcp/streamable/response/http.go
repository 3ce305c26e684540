package response

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/compress"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// An httpOutput is the response to one request that net/http has read: one JSON body or, after a notification, a stream
// of events that ends with the answer.
type httpOutput struct{ stream Stream }

func (o *httpOutput) room() int { return 0 }

func (o *httpOutput) outlet() mcp.ResponseStream {
	return mcp.ResponseStream{Notify: o.notify, Abort: o.abort}
}

func (o *httpOutput) notify(method string, params json.RawMessage) error {
	return o.stream.Send(mcp.AppendNotification(nil, method, params), GuestTimeout)
}

func (o *httpOutput) abort() { Abort(o.stream.control) }

// mustBeIdentity implements [output]: earlier events were not compressed.
func (o *httpOutput) mustBeIdentity() bool { return o.stream.begun }

func (o *httpOutput) deadline(size int, timeout time.Duration) error {
	SetDeadline(o.stream.control, size, timeout)
	return nil
}

func (o *httpOutput) whole(answer []byte, status int, coding compress.Coding) error {
	if o.stream.begun {
		return o.stream.Send(answer, AnswerTimeout)
	}
	if coding != compress.Identity {
		SetCoding(o.stream.w.Header(), coding)
	}
	WriteJSON(o.stream.w, status, answer)
	return nil
}

func (o *httpOutput) nothing() error {
	if o.stream.begun {
		return nil
	}
	setEventHeaders(o.stream.w.Header())
	o.stream.w.Header().Set("Content-Length", "0")
	o.stream.w.WriteHeader(http.StatusOK)
	return nil
}

func (o *httpOutput) begin(coding compress.Coding) error {
	if o.stream.begun {
		_, err := o.stream.w.Write([]byte(EventHead))
		return err
	}
	header := o.stream.w.Header()
	header.Set("Content-Type", jsonType)
	header.Set("Cache-Control", "no-store")
	if coding != compress.Identity {
		SetCoding(header, coding)
	}
	return nil
}

// Write implements [output].
func (o *httpOutput) Write(p []byte) (int, error) { return o.stream.w.Write(p) }

func (o *httpOutput) end() error {
	if !o.stream.begun {
		return nil
	}
	_, err := o.stream.w.Write([]byte(EventTail))
	return err
}

// flush implements [output]. A server that cannot flush sends the bytes later.
func (o *httpOutput) flush() error {
	err := o.stream.control.Flush()
	ClearDeadline(o.stream.control)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
