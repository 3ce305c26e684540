package wasmres

import (
	"errors"
	"io"
	"unsafe"

	"github.com/wasmres/wasmres/guest-sdk/go/internal/host"
)

const (
	flushAt   = 8 << 10   // a frame is sent when it has grown to this
	inlineMax = 4 << 10   // contents up to this travel with their head
	pieceMax  = 768 << 10 // bytes of a content in memory that one body call hands over; a multiple of 3, as base64 likes
)

// chunk is what streams are read through, 48 KiB; only one runs at a time.
var chunk [48 << 10]byte

// out collects what an operation emits.
type out struct {
	buf     []byte // whole fields not yet sent
	stopped error  // the signal that ended the call; nil while it goes on
}

// flush sends what is collected. Any error means that the operation is over.
func (o *out) flush() error {
	if o.stopped != nil || len(o.buf) == 0 {
		return o.stopped
	}
	o.stopped = signalError(host.Emit(o.buf))
	o.buf = o.buf[:0]
	return o.stopped
}

// flushLast sends what was added after the host had enough, as the next cursor.
func (o *out) flushLast() error {
	o.stopped = nil
	if err := o.flush(); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// body sends bytes of the last content.
func (o *out) body(p []byte) error {
	for len(p) > 0 && o.stopped == nil {
		n := min(len(p), pieceMax)
		o.stopped = signalError(host.Body(p[:n]))
		p = p[n:]
	}
	return o.stopped
}

// several is what a content reads from that stands for several. That it is an interface keeps its code out of modules that
// do not use it.
type several interface {
	io.Reader // which is not read
	send(o *out, r *Request, route *Route) error
}

// content sends one content, head and bytes, or several.
func (o *out) content(c *Content, r *Request, route *Route) error {
	if c.reader != nil {
		if all, ok := c.reader.(several); ok {
			return all.send(o, r, route)
		}
		if closer, ok := c.reader.(io.Closer); ok {
			defer closer.Close()
		}
	}
	if !c.unmodified && c.kind == kindNone {
		return errors.New("a content was made without Text, Bytes or Stream")
	}
	if route.ranges {
		if err := c.cut(r); err != nil {
			return err
		}
	}
	return o.put(c, r, route)
}

// put sends one content as it is.
func (o *out) put(c *Content, r *Request, route *Route) error {
	if !c.unmodified && r.MaxBytes > 0 && c.length() > r.MaxBytes {
		return ErrTooLarge
	}
	inline := c.reader == nil && len(c.data) <= inlineMax
	o.buf = c.append(o.buf, r, route, inline)
	if c.unmodified || inline {
		if len(o.buf) < flushAt {
			return nil
		}
		return o.flush()
	}
	if err := o.flush(); err != nil {
		return err
	}
	if c.reader != nil {
		return o.stream(c.reader)
	}
	return o.body(c.data)
}

// stream sends what r gives, in whole chunks.
func (o *out) stream(r io.Reader) error {
	if w, ok := r.(io.WriterTo); ok {
		_, err := w.WriteTo(bodyWriter{o})
		return err
	}
	for {
		n, err := fill(chunk[:], r)
		if err := o.body(chunk[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fill reads until p is full or r has an error to tell.
func fill(p []byte, r io.Reader) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.Read(p[n:])
		n += k
	}
	return n, err
}

// A bodyWriter lets a stream that can write itself do so without a copy.
type bodyWriter struct{ out *out }

func (w bodyWriter) Write(p []byte) (int, error) {
	if err := w.out.body(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w bodyWriter) WriteString(s string) (int, error) {
	return w.Write(unsafe.Slice(unsafe.StringData(s), len(s))) // only ever read
}
