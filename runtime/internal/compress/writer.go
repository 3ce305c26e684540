package compress

import "errors"

// A Writer codes one stream. It belongs to one goroutine.
type Writer struct {
	// fixed at creation
	from   *Encoders
	coding Coding

	encoder encoder // nil when closed
}

var errClosed = errors.New("compress: the stream is closed")

// Write codes p. It may write the result later: with the next Write, with Flush or with Close.
func (w *Writer) Write(p []byte) (int, error) {
	if w.encoder == nil {
		return 0, errClosed
	}
	return w.encoder.Write(p)
}

// Flush writes everything so far, so that a reader of the stream can decode it.
func (w *Writer) Flush() error {
	if w.encoder == nil {
		return errClosed
	}
	return w.encoder.Flush()
}

// Close ends the stream, but does not close its destination. It is idempotent.
func (w *Writer) Close() error {
	if w.encoder == nil {
		return nil
	}
	enc := w.encoder
	w.encoder = nil
	err := enc.Close()
	w.from.give(w.coding, enc)
	return err
}
