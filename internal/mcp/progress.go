package mcp

import (
	"math"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/wire"
)

// maxProgress is how many notifications one request may cause.
const maxProgress = 1000

// A progress tells the client how far its request has come, if it asked to be told.
type progress struct {
	notify Notify // nil when nobody wants to know
	token  []byte // as it came

	last float64
	sent int
}

func newProgress(r *request) *progress {
	p := &progress{token: r.params.token, last: math.Inf(-1)}
	if isToken(p.token) {
		p.notify = r.notify
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
	if p.notify("notifications/progress", append(b, '}')) != nil {
		p.notify = nil // nobody is there any more
	}
}
