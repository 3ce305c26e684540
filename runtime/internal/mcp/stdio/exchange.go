package stdio

import (
	"encoding/json"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// An exchange is an answer on its way. A long one leaves a part at a time, and nobody else writes meanwhile.
type exchange struct {
	server *server
	flight *flight
	began  bool // a part has left
}

func (x *exchange) notify(method string, params json.RawMessage) error {
	return x.server.out.write(append(mcp.AppendNotification(nil, method, params), '\n'), x.flight)
}

// flush sends the next part of a long answer.
func (x *exchange) flush(part []byte) error {
	if !x.began {
		if err := x.server.out.hold(x.flight); err != nil {
			return err
		}
		x.began = true
	}
	return x.server.out.put(part)
}

// finish sends the answer, or what is left of it. One that has begun and then failed is a line that is no message, and
// the failure follows it, unless the client has cancelled the request. A failed write ends the loop.
func (x *exchange) finish(rest []byte, failure *mcp.Error) {
	x.server.settle(x.flight)
	line := append(rest, '\n')
	if !x.began {
		if left, _ := x.server.out.gather(line, x.flight, x.server.crew.more()); left {
			x.server.crew.remind()
		}
		return
	}
	switch {
	case failure != nil && x.flight.cancelled.Load():
		line = []byte{'\n'}
	case failure != nil:
		line = append([]byte{'\n'}, line...)
	}
	x.server.out.release(x.server.out.put(line))
}
