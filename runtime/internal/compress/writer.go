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

// Write codes p. What comes of it may be written later: with the next Write, with Flush or with Close.
func (w *Writer) Write(p []byte) (int, error) {
	if w.encoder == nil {
		return 0, errClosed
	}
	return w.encoder.Write(p)
}

// Flush writes all that there is: who reads the stream can decode everything before it.
func (w *Writer) Flush() error {
	if w.encoder == nil {
		return errClosed
	}
	return w.encoder.Flush()
}

// Close ends the stream. It does not close what the stream is written to. A second Close does nothing.
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
