package streamable

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// errNoRoom means that the budget of bodies and answers in flight has no room for a body.
var errNoRoom = errors.New("bodies and answers take all the memory there is for them")

// A countedBody is a body that counts as in flight, if it is large.
type countedBody struct {
	io.Reader
	hold *inflight.Hold
	size int
}

// bodyCopies is roughly how often the bytes of a body are in memory: in the read buffer, and in values decoded from it.
const bodyCopies = 3

// Read implements [io.Reader].
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.size += n; b.size > inflight.Free && !b.hold.Take(bodyCopies*n) {
		return n, errNoRoom
	}
	return n, err
}

// readBody reads the whole body within BodyTimeout. It charges a large body to hold as it arrives. If hold has no room
// for the declared length, readBody reads nothing.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, hold *inflight.Hold) ([]byte, error) {
	size := int(min(r.ContentLength, h.cfg.MaxRequestBytes))
	if size > inflight.Free && !hold.Fits(bodyCopies*size) {
		return nil, errNoRoom
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.cfg.BodyTimeout)) // not every server can
	body := &countedBody{Reader: http.MaxBytesReader(w, r.Body, h.cfg.MaxRequestBytes), hold: hold}
	text, err := readAll(body, size)
	if err == nil {
		_ = control.SetReadDeadline(time.Time{}) // a stream may stay open for hours
	}
	return text, err
}

// readAll reads all of r. size is the declared length, negative for none. The buffer never exceeds bodyCopies times the
// bytes received, and ends with at most size+1 bytes if size is right.
func readAll(r io.Reader, size int) ([]byte, error) {
	const typical = 4 << 10 // bytes of a request
	text := make([]byte, 0, typical)
	for {
		if len(text) == cap(text) {
			room := 2 * cap(text)
			if len(text) <= size && size < bodyCopies*cap(text) {
				room = size + 1 // the last Read needs a byte of space
			}
			text = append(make([]byte, 0, room), text...)
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}
