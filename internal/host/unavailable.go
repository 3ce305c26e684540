package host

import (
	"context"
	"errors"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/resource"
)

// unavailable is the source of a tenant that cannot be served now. Each request fails with its error.
type unavailable struct{ err error }

// refusal returns the error for clients: [abi.CodeUnavailable] with the time to retry after.
func (u unavailable) refusal() error {
	var e *abi.Error
	if errors.As(u.err, &e) && e.RetryAfter > 0 {
		return e
	}
	if errors.Is(u.err, context.DeadlineExceeded) {
		return unavailableFor("the providers are being loaded: try again", minRetry)
	}
	return unavailableFor("the tenant cannot be served now", minRetry)
}

// unavailableFor returns an error with the time to retry after.
func unavailableFor(text string, retry time.Duration) error {
	e := abi.Errorf(abi.CodeUnavailable, "%s", text)
	e.RetryAfter = retry
	return e
}

// List implements [resource.Source].
func (u unavailable) List(context.Context, *resource.Request) (*abi.Reply, error) {
	return nil, u.refusal()
}

// Templates implements [resource.Source].
func (u unavailable) Templates(context.Context, *resource.Request) (*abi.Reply, error) {
	return nil, u.refusal()
}

// Read implements [resource.Source].
func (u unavailable) Read(context.Context, *resource.Request, abi.Sink) (*abi.Reply, error) {
	return nil, u.refusal()
}

// Complete implements [resource.Source].
func (u unavailable) Complete(context.Context, *resource.Request) (*abi.Reply, error) {
	return nil, u.refusal()
}

// Subscribe implements [resource.Source].
func (u unavailable) Subscribe(context.Context, []abi.URI, bool, resource.Notifier) ([]abi.URI, error) {
	return nil, u.refusal()
}

// A gateOnce refuses what would last longer than one request.
type gateOnce struct{ admission.Gate }

// Account implements [admission.Gate].
func (g *gateOnce) Account(key string, by admission.By) admission.Account {
	return accountOnce{g.Gate.Account(key, by)}
}

type accountOnce struct{ admission.Account }

// Open implements [admission.Account].
func (accountOnce) Open(admission.Kind) (admission.Refusal, bool) {
	return admission.Refusal{Limit: admission.Live, Of: "tenant", RetryAfter: minRetry}, false
}

// Close implements [admission.Account]. Nothing was opened.
func (accountOnce) Close(admission.Kind) {}
