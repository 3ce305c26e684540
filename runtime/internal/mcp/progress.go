package mcp

import (
	"math"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
)

// maxProgress is how many notifications one request may cause.
const maxProgress = 1000

// A progress tells the client how far its request has come, if it asked to be told. A client that reads slowly does not
// hold up the guest: what is to be told waits.
type progress struct {
	// fixed at creation
	notify Notify // nil when nobody wants to know
	token  []byte // as it came

	news    chan []byte    // params to be sent; nil before the first
	telling sync.WaitGroup // who sends them

	last float64
	sent int
}

func newProgress(r *request) *progress {
	p := &r.progress
	p.token, p.last = r.params.token, math.Inf(-1)
	if isToken(p.token) {
		p.notify = r.outlet.Notify
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

// report sends what the guest says, if it is an advance.
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
		b = wire.AppendString(b, clip(to.Message, maxMessage))
	}
	p.last = to.Done
	p.sent++
	if p.news == nil {
		p.news = make(chan []byte, maxProgress) // so that there is always room
		p.telling.Go(p.tell)
	}
	p.news <- append(b, '}')
}

// tell sends news until there are no more, or nobody is there any more.
func (p *progress) tell() {
	for params := range p.news {
		if p.notify("notifications/progress", params) != nil {
			return
		}
	}
}

// end waits until all is told. Nothing is told after that.
func (p *progress) end() {
	if p.news != nil {
		close(p.news)
		p.telling.Wait()
	}
	p.notify, p.news = nil, nil
}
