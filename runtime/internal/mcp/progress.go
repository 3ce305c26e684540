package mcp

import (
	"math"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/textenc"
)

// maxProgress is how many notifications one request may cause.
const maxProgress = 1000

// A progress sends notifications/progress for a request, if the client asked for them. It queues them, so that a client
// that reads slowly does not delay the guest.
type progress struct {
	// fixed at creation
	notify Notify // nil if the client did not ask for progress
	token  []byte // as received

	queue   chan []byte    // params to be sent; nil before the first
	sending sync.WaitGroup // the goroutine that sends them

	last float64
	sent int
}

func newProgress(r *request) *progress {
	p := &r.progress
	p.token, p.last = r.params.token, math.Inf(-1)
	if isToken(p.token) {
		p.notify = r.stream.Notify
	}
	return p
}

// isToken reports whether value is a string or an integer.
func isToken(value []byte) bool {
	if len(value) == 0 || len(value) > maxID {
		return false
	}
	if value[0] == '"' {
		return true
	}
	for i, c := range value {
		if (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return true
}

// report queues a notification, if the guest reports more progress than before.
func (p *progress) report(to abi.Progress) {
	if p.notify == nil || math.IsNaN(to.Done) || math.IsInf(to.Done, 0) || to.Done <= p.last || p.sent == maxProgress {
		return
	}
	b := append([]byte(`{"progressToken":`), p.token...)
	b = append(b, `,"progress":`...)
	b = appendFloat(b, to.Done)
	if to.Total > 0 && !math.IsInf(to.Total, 0) {
		b = append(b, `,"total":`...)
		b = appendFloat(b, to.Total)
	}
	if to.Message != "" {
		b = append(b, `,"message":`...)
		b = textenc.AppendString(b, truncate(to.Message, maxMessage))
	}
	p.last = to.Done
	p.sent++
	if p.queue == nil {
		p.queue = make(chan []byte, maxProgress) // the queue never blocks
		p.sending.Go(p.send)
	}
	p.queue <- append(b, '}')
}

// send sends the queue until it is closed, or until a notification cannot be sent.
func (p *progress) send() {
	for params := range p.queue {
		if p.notify("notifications/progress", params) != nil {
			return
		}
	}
}

// end waits until the queue is sent. report must not be called after that.
func (p *progress) end() {
	if p.queue != nil {
		close(p.queue)
		p.sending.Wait()
	}
	p.notify, p.queue = nil, nil
}
