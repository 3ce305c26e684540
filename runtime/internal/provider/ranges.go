package provider

import "github.com/wasmres/wasmres/abi"

// unranged takes the range out of a request whose template knows none. What answers it then is the whole, whatever the
// guest says.
func unranged(req *abi.Request, declared *abi.Template, sink abi.Sink) abi.Sink {
	if declared != nil && declared.Ranges || req.RangeOffset == 0 && req.RangeLength == 0 {
		return sink
	}
	req.RangeOffset, req.RangeLength = 0, 0
	return whole{sink}
}

// whole is an [abi.Sink] to which every content is a whole.
type whole struct{ abi.Sink }

// Unwrap is for [runtime.Waiter].
func (w whole) Unwrap() abi.Sink { return w.Sink }

// Content implements [abi.Sink].
func (w whole) Content(c *abi.Content) error {
	if c.RangeTotal == 0 {
		return w.Sink.Content(c)
	}
	head := *c
	head.RangeTotal = 0
	return w.Sink.Content(&head)
}
