package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readAhead is how many lines are handed out at once, if they are there.
const readAhead = 64

// A line is what was read: a message, or a line too long to be one, or the end.
type line struct {
	text    []byte
	tooLong bool
	err     error // io.EOF at the end
}

// A reader splits a stream into lines.
type reader struct {
	// fixed at creation
	in    *bufio.Reader
	most  int // bytes of a line
	lines chan []line
	stop  chan struct{} // closed when nobody takes lines any more
}

func newReader(in io.Reader, most int) *reader {
	const buffer = 64 << 10
	return &reader{
		in: bufio.NewReaderSize(in, buffer), most: most, lines: make(chan []line), stop: make(chan struct{}),
	}
}

// run reads until the stream ends or stop is closed, and hands out the error as the last line.
func (r *reader) run() {
	for {
		some := r.some()
		select {
		case r.lines <- some:
		case <-r.stop:
			return
		}
		if some[len(some)-1].err != nil {
			return
		}
	}
}

// some reads a line, and those after it that are there already.
func (r *reader) some() []line {
	list := []line{r.next()}
	for len(list) < readAhead && list[len(list)-1].err == nil && r.isNextHere() {
		list = append(list, r.next())
	}
	return list
}

// isNextHere reports whether a whole line has been read ahead that is not blank.
func (r *reader) isNextHere() bool {
	here, _ := r.in.Peek(r.in.Buffered()) // no more than there is
	here = bytes.TrimLeft(here, " \t\r\n")
	return bytes.IndexByte(here, '\n') >= 0
}

// next reads one line that is not blank, without the space around it. Of a line that is too long nothing is kept. At the
// end of the stream a line needs no line end.
func (r *reader) next() line {
	var l line
	for {
		part, err := r.in.ReadSlice('\n')
		if l.tooLong = l.tooLong || len(l.text)+len(part) > r.most+1; l.tooLong {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if l.text = bytes.Trim(l.text, " \t\r\n"); l.tooLong || len(l.text) > 0 {
			return l // an error comes again with the next call
		}
		if err != nil {
			return line{err: err}
		}
		l = line{}
	}
}
