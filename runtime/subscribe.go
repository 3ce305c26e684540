package runtime

import (
	"context"
	"iter"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Change says that a resource has changed, or the list of resources.
type Change struct {
	URI string // as given to Subscribe; empty for the list
}

// Subscribe returns a Change each time one of uris has changed, or the list of resources when uris is empty, until ctx
// ends: then the loop ends without an error, and ctx.Err says why. The subscription begins with the loop, some
// milliseconds later, and ends with it: a caller that must not miss a change reads the resource once the loop runs.
// Changes that come while the body of the loop runs are merged.
//
// Before any Change, the loop ends with abi.CodeInvalidParams for what is no URI, and with abi.CodeUnsupported when the
// provider refuses the subscription. Most providers accept every URI, also that of a resource that does not exist yet, or
// whose capability is not granted: Read tells. Close ends the loop with abi.CodeUnavailable.
func (p *Provider) Subscribe(ctx context.Context, uris ...string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		changes := coalesce.New(nil)
		err := p.subscribe(ctx, uris, changes)
		if err == nil {
			err = p.deliver(ctx, changes, func(uri string) bool { return yield(Change{URI: uri}, nil) })
		}
		if err != nil && ctx.Err() == nil {
			yield(Change{}, err)
		}
	}
}

// subscribe has the changes of uris, or of the list, added to changes until ctx ends.
func (p *Provider) subscribe(ctx context.Context, uris []string, changes *coalesce.Set) error {
	parsed, err := parseURIs(uris)
	if err != nil {
		return err
	}
	accepted, err := p.inner.Subscribe(ctx, parsed, len(uris) == 0, resource.NotifierFunc(changes.Add))
	if err != nil {
		return err
	}
	for _, uri := range parsed {
		isSame := func(other abi.URI) bool { return other.Normal() == uri.Normal() }
		if !slices.ContainsFunc(accepted, isSame) {
			return abi.Errorf(abi.CodeUnsupported, "resource %s cannot be subscribed to", uri)
		}
	}
	return nil
}

// errSubscriptionClosed ends subscriptions with the provider.
var errSubscriptionClosed = abi.Errorf(abi.CodeUnavailable, "the provider has been closed")

// deliver returns changes to each until it returns false or ctx ends, without an error, or the provider is closed.
func (p *Provider) deliver(ctx context.Context, changes *coalesce.Set, each func(uri string) bool) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.closed:
			return errSubscriptionClosed
		case <-changes.C:
		}
		for uri, ok := changes.Take(); ok; uri, ok = changes.Take() {
			if !each(uri) {
				return nil
			}
		}
	}
}

func parseURIs(uris []string) (parsed []abi.URI, err error) {
	for _, uri := range uris {
		u, err := parseURI(uri)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, u)
	}
	return parsed, nil
}
