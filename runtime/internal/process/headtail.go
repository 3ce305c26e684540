package process

import (
	"errors"
	"io"
	"strconv"
)

// maxListen bounds how many bytes of standard error are read.
const maxListen = 1 << 20

// A headTailBuffer stores the first and the last bytes written to it, max bytes together: a Go program that crashes
// says first why, and may print a lot after. It belongs to the goroutine that copies until the child was waited for,
// then to the goroutine that waited.
type headTailBuffer struct {
	max  int
	head []byte // the first max/2 bytes
	tail []byte // a ring of the last max-max/2 bytes
	next int    // where the ring continues once it is full
	all  int64  // bytes written
}

var errTooMuch = errors.New("the child prints too much")

// Write implements [io.Writer].
func (e *headTailBuffer) Write(p []byte) (int, error) {
	e.all += int64(len(p))
	rest := p
	if room := e.max/2 - len(e.head); room > 0 {
		n := min(room, len(rest))
		e.head, rest = append(e.head, rest[:n]...), rest[n:]
	}
	e.turn(rest)
	if e.all > maxListen {
		return len(p), errTooMuch
	}
	return len(p), nil
}

// turn writes to the ring.
func (e *headTailBuffer) turn(p []byte) {
	size := e.max - e.max/2
	if room := size - len(e.tail); room > 0 {
		n := min(room, len(p))
		e.tail, p = append(e.tail, p[:n]...), p[n:]
	}
	p = p[max(0, len(p)-size):]
	for len(p) > 0 {
		n := copy(e.tail[e.next:], p)
		e.next, p = (e.next+n)%size, p[n:]
	}
}

// ReadFrom implements [io.ReaderFrom]. It uses little memory, since there is one for the life of each child.
func (e *headTailBuffer) ReadFrom(r io.Reader) (int64, error) {
	var buf [512]byte
	for {
		n, err := r.Read(buf[:])
		if _, tooMuch := e.Write(buf[:n]); tooMuch != nil {
			return e.all, tooMuch
		}
		switch {
		case errors.Is(err, io.EOF):
			return e.all, nil
		case err != nil:
			return e.all, err
		}
	}
}

// String returns the stored bytes.
func (e *headTailBuffer) String() string {
	tail := string(e.tail[e.next:]) + string(e.tail[:e.next])
	if left := e.all - int64(len(e.head)+len(e.tail)); left > 0 {
		return string(e.head) + "\n… " + strconv.FormatInt(left, 10) + " bytes …\n" + tail
	}
	return string(e.head) + tail
}
