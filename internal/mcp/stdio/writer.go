package stdio

import (
	"fmt"
	"io"
)

// A writer writes whole lines. Whoever writes waits for its turn, so that lines stay whole, and a client that does not
// read slows down those who write rather than filling memory.
type writer struct {
	turn   chan struct{} // holds one token while a line is being written
	broken chan struct{} // closed when a write has failed

	// owned by whose turn it is
	out io.Writer
	err error
}

func newWriter(out io.Writer) *writer {
	return &writer{turn: make(chan struct{}, 1), broken: make(chan struct{}), out: out}
}

// write writes a line, its end included, unless f has been cancelled by then. A nil f cannot be.
func (w *writer) write(line []byte, f *flight) error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if w.err != nil {
		return w.err
	}
	if f != nil && f.cancelled.Load() {
		return errCancelled
	}
	if _, err := w.out.Write(line); err != nil {
		w.err = fmt.Errorf("write: %w", err)
		close(w.broken)
	}
	return w.err
}

// failure gives the error of the first write that failed.
func (w *writer) failure() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	return w.err
}
