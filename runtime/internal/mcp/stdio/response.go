package stdio

import (
	"encoding/json"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// A response is the answer to one request. A long one is written in parts, with nothing in between.
type response struct {
	server  *server
	request *pendingRequest
	begun   bool // a part was written
}

func (r *response) notify(method string, params json.RawMessage) error {
	return r.server.out.write(append(mcp.AppendNotification(nil, method, params), '\n'), r.request)
}

// flush writes the next part of a long answer.
func (r *response) flush(part []byte) error {
	if !r.begun {
		if err := r.server.out.lock(r.request); err != nil {
			return err
		}
		r.begun = true
	}
	return r.server.out.writeRaw(part)
}

// finish writes the answer, or the rest of it. If an answer fails after its first part, finish ends the incomplete line
// and, unless the client has cancelled the request, writes the failure as a line of its own. If a write fails, the
// server's loop ends.
func (r *response) finish(rest []byte, failure *mcp.Error) {
	r.server.end(r.request)
	line := append(rest, '\n')
	if !r.begun {
		if left, _ := r.server.out.batch(line, r.request, r.server.workers.hasMore()); left {
			r.server.workers.scheduleFlush()
		}
		return
	}
	switch {
	case failure != nil && r.request.cancelled.Load():
		line = []byte{'\n'}
	case failure != nil:
		line = append([]byte{'\n'}, line...)
	}
	r.server.out.unlock(r.server.out.writeRaw(line))
}
