package guard

import "github.com/wasmres/wasmres/abi"

// A filter leaves hidden contents out of a read, as of files in a directory.
type filter struct {
	abi.Sink
	view view

	hiding        bool // the content last begun is hidden
	shown, hidden int  // contents
}

// Unwrap gives the sink that may keep the guest waiting.
func (f *filter) Unwrap() abi.Sink { return f.Sink }

// Content implements [abi.Sink].
func (f *filter) Content(c *abi.Content) error {
	if f.hiding = c.URI != "" && !f.view.permits(c.URI); f.hiding {
		f.hidden++
		return nil
	}
	f.shown++
	return f.Sink.Content(c)
}

// Body implements [abi.Sink].
func (f *filter) Body(p []byte) error {
	if f.hiding {
		return nil
	}
	return f.Sink.Body(p)
}
