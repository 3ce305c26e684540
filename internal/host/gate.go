package host

import (
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
)

// A gate reports each refusal of another one, and refuses all while calls cannot be recorded.
type gate struct {
	admission.Gate
	refused      func(limit string)
	isUnrecorded func() bool
}

// Account implements [admission.Gate].
func (g *gate) Account(key string, by admission.By) admission.Account {
	return &account{g.Gate.Account(key, by), g.refused, g.isUnrecorded}
}

// An account reports each refusal of another one.
type account struct {
	admission.Account
	refused      func(limit string)
	isUnrecorded func() bool
}

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
	r, ok := a.Account.Open(k)
	if !ok {
		a.refused(r.Limit)
	}
	return r, ok
}
