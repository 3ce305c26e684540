package host

import (
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
)

// A gate reports each refusal of another one, refuses all while calls cannot be recorded, and bounds the streams of all tenants.
type gate struct {
	admission.Gate
	refused      func(limit string)
	isUnrecorded func() bool
	streams      *streams
}

// streams counts the streams of all tenants.
type streams struct {
	most int64 // fixed at creation; 0 for no bound
	open atomic.Int64
}

// begin counts a stream, unless there are too many.
func (s *streams) begin() bool {
	if s.open.Add(1) > s.most && s.most > 0 {
		s.open.Add(-1)
		return false
	}
	return true
}

// Account implements [admission.Gate].
func (g *gate) Account(key string, by admission.By) admission.Account {
	return &account{g.Gate.Account(key, by), g.refused, g.isUnrecorded, g.streams}
}

// An account reports each refusal of another one.
type account struct {
	admission.Account
	refused      func(limit string)
	isUnrecorded func() bool
	streams      *streams
}

// fullRetry is when a client may ask again for a stream that was refused because the server has too many.
const fullRetry = 10 * time.Second

// unrecordedRetry is when a client may ask again that was refused because its call could not be recorded.
const unrecordedRetry = time.Second

// Enter implements [admission.Account].
func (a *account) Enter(requests int) (admission.Refusal, bool) {
	if a.isUnrecorded() {
		a.refused(admission.Audit)
		return admission.Refusal{Limit: admission.Audit, Of: "server", RetryAfter: unrecordedRetry}, false
	}
	r, ok := a.Account.Enter(requests)
	if !ok {
		a.refused(r.Limit)
	}
	return r, ok
}

// Open implements [admission.Account].
func (a *account) Open(k admission.Kind) (admission.Refusal, bool) {
	if k == admission.Stream && !a.streams.begin() {
		a.refused(admission.Subscriptions)
		return admission.Refusal{Limit: admission.Subscriptions, Of: "server", RetryAfter: fullRetry}, false
	}
	r, ok := a.Account.Open(k)
	if !ok {
		a.refused(r.Limit)
		if k == admission.Stream {
			a.streams.open.Add(-1)
		}
	}
	return r, ok
}

// Close implements [admission.Account].
func (a *account) Close(k admission.Kind) {
	a.Account.Close(k)
	if k == admission.Stream {
		a.streams.open.Add(-1)
	}
}
