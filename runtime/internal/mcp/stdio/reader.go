package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readAhead is the most lines of a batch.
const readAhead = 64

// A line is one line of the input, or the error that ended it.
type line struct {
	text    []byte
	tooLong bool  // text is empty
	err     error // io.EOF at the end
}

// A reader splits a stream into lines.
type reader struct {
	// fixed at creation
	in    *bufio.Reader
	most  int // bytes of a line
	lines chan []line
	stop  chan struct{} // closed when no more lines are received
}

func newReader(in io.Reader, most int) *reader {
	const buffer = 64 << 10
	return &reader{
		in: bufio.NewReaderSize(in, buffer), most: most, lines: make(chan []line), stop: make(chan struct{}),
	}
}

// run reads until the stream ends or stop is closed, and sends batches of lines. The last line has the error.
func (r *reader) run() {
	for {
		batch := r.readBatch()
		select {
		case r.lines <- batch:
		case <-r.stop:
			return
		}
		if batch[len(batch)-1].err != nil {
			return
		}
	}
}

// readBatch reads a line, and those after it that have been read ahead.
func (r *reader) readBatch() []line {
	list := []line{r.next()}
	for len(list) < readAhead && list[len(list)-1].err == nil && r.hasNext() {
		list = append(list, r.next())
	}
	return list
}

// hasNext reports whether a whole line that is not blank has been read ahead.
func (r *reader) hasNext() bool {
	here, _ := r.in.Peek(r.in.Buffered()) // never reads
	here = bytes.TrimLeft(here, " \t\r\n")
	return bytes.IndexByte(here, '\n') >= 0
}

// next reads one line that is not blank, without the space around it. A line that is too long is discarded as it is read.
// The last line of the stream needs no line end.
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
			return l // the next call gets the same error
		}
		if err != nil {
			return line{err: err}
		}
		l = line{}
	}
}
