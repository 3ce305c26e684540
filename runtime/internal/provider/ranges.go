package provider

import "github.com/wasmres/wasmres/abi"

// withoutRange removes the range from a request whose template does not declare ranges. The guest's contents then count
// as whole.
func withoutRange(req *abi.Request, declared *abi.Template, sink abi.Sink) abi.Sink {
	if declared != nil && declared.Ranges || req.RangeOffset == 0 && req.RangeLength == 0 {
		return sink
	}
	req.RangeOffset, req.RangeLength = 0, 0
	return wholeSink{sink}
}

// A wholeSink is an [abi.Sink] that removes RangeTotal from every content.
type wholeSink struct{ abi.Sink }

// Unwrap returns the wrapped sink, which may be one that blocks.
func (w wholeSink) Unwrap() abi.Sink { return w.Sink }

// Content implements [abi.Sink].
func (w wholeSink) Content(c *abi.Content) error {
	if c.RangeTotal == 0 {
		return w.Sink.Content(c)
	}
	head := *c
	head.RangeTotal = 0
	return w.Sink.Content(&head)
}
