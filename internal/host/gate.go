package host

import "github.com/wasmres/wasmres/runtime/admission"

// A gate reports each refusal of another one.
type gate struct {
	admission.Gate
	refused func(limit string)
}

// Account implements [admission.Gate].
func (g *gate) Account(key string, by admission.By) admission.Account {
	return &account{g.Gate.Account(key, by), g.refused}
}

// An account reports each refusal of another one.
type account struct {
	admission.Account
	refused func(limit string)
}

// Enter implements [admission.Account].
func (a *account) Enter(requests int) (admission.Refusal, bool) {
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
