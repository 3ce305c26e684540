package quota

import (
	"time"

	"github.com/wasmres/wasmres/internal/tokenbucket"
	"github.com/wasmres/wasmres/runtime/admission"
)

// Whose a limit is, for clients.
const (
	ofTenant    = "tenant"
	ofPrincipal = "principal"
	ofClient    = "client"
)

// An account is that of one client of a tenant.
type account struct {
	// fixed at creation
	tenant *Tenant
	key    string
	by     admission.By

	bucket tokenbucket.Bucket
}

// of says whose the account's own limits are.
func (a *account) of() string {
	if a.by == admission.Principal {
		return ofPrincipal
	}
	return ofClient
}

// Enter implements [admission.Account]. Requests of clients without a good credential take nothing from the tenant: they are
// refused in any case.
func (a *account) Enter(requests int) (refused admission.Refusal, ok bool) {
	t := a.tenant
	now, b := t.now(), t.bounds.Load()
	if a.by == admission.Unauthenticated {
		retryAfter, ok := a.bucket.Take(now, requests, strangers)
		return tooOften(retryAfter, ofClient), ok
	}
	t.beginDay(now)
	if t.running.Add(1) > b.concurrent {
		t.running.Add(-1)
		return admission.Refusal{Limit: admission.Concurrency, Of: ofTenant, RetryAfter: crowdedRetry}, false
	}
	if refused, ok = a.take(now, requests, b); !ok {
		t.running.Add(-1)
	}
	return refused, ok
}

var strangers = tokenbucket.New(strangerRate, strangerBurst)

// take takes what requests need but for a place among those that run.
func (a *account) take(now int64, requests int, b *bounds) (refused admission.Refusal, ok bool) {
	t := a.tenant
	if refused, is := t.exhausted(now, b); is {
		return refused, false
	}
	if debt := t.bytes.Debt(now, b.bytes); debt > admission.MaxWait { // the answer could not be sent
		return admission.Refusal{Limit: admission.Bytes, Of: ofTenant, RetryAfter: debt - admission.MaxWait}, false
	}
	if retryAfter, ok := a.bucket.Take(now, requests, b.principal); !ok {
		return tooOften(retryAfter, a.of()), false
	}
	if retryAfter, ok := t.requests.Take(now, requests, b.requests); !ok {
		a.bucket.Return(requests, b.principal)
		return tooOften(retryAfter, ofTenant), false
	}
	return refused, true
}

func tooOften(retryAfter time.Duration, of string) admission.Refusal {
	return admission.Refusal{Limit: admission.Requests, Of: of, RetryAfter: atLeast(retryAfter)}
}

// Leave implements [admission.Account].
func (a *account) Leave() {
	if a.by != admission.Unauthenticated {
		a.tenant.running.Add(-1)
	}
}

// Open implements [admission.Account].
func (a *account) Open(k admission.Kind) (refused admission.Refusal, ok bool) {
	t := a.tenant
	limit, most, mostOfOne := t.bounds.Load().open(k)
	t.mu.Lock()
	defer t.mu.Unlock()
	opened := &t.open[k]
	switch {
	case opened.of[a.key] >= mostOfOne:
		return admission.Refusal{Limit: limit, Of: a.of(), RetryAfter: fullRetry}, false
	case opened.total >= most:
		return admission.Refusal{Limit: limit, Of: ofTenant, RetryAfter: fullRetry}, false
	}
	opened.total++
	opened.of[a.key]++
	return refused, true
}

// Close implements [admission.Account].
func (a *account) Close(k admission.Kind) {
	t := a.tenant
	t.mu.Lock()
	defer t.mu.Unlock()
	opened := &t.open[k]
	opened.total--
	if opened.of[a.key]--; opened.of[a.key] <= 0 {
		delete(opened.of, a.key)
	}
}

// Write implements [admission.Account].
func (a *account) Write(bytes int) (wait time.Duration) {
	t := a.tenant
	if a.by == admission.Unauthenticated {
		return 0
	}
	now := t.now()
	t.beginDay(now)
	t.sent.Add(int64(bytes))
	return t.bytes.Owe(now, int64(bytes), t.bounds.Load().bytes)
}
