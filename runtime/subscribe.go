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

// Subscribe gives a Change each time one of uris has changed, or the list of resources when uris is empty, until ctx
// ends, which is no error. The subscription begins with the loop and ends with it. Changes that come while the body of the
// loop runs are merged. Before any Change, the loop ends with abi.CodeInvalidParams for what is no URI, and with
// abi.CodeUnsupported for a resource that cannot be subscribed to.
func (p *Provider) Subscribe(ctx context.Context, uris ...string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		parsed, err := parseURIs(uris)
		if err != nil {
			yield(Change{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		changes := coalesce.New(nil)
		accepted, err := p.inner.Subscribe(ctx, parsed, len(uris) == 0, resource.NotifierFunc(changes.Add))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			yield(Change{}, err)
			return
		}
		for _, uri := range parsed {
			isSame := func(other abi.URI) bool { return other.Normal() == uri.Normal() }
			if !slices.ContainsFunc(accepted, isSame) {
				yield(Change{}, abi.Errorf(abi.CodeUnsupported, "resource %s cannot be subscribed to", uri))
				return
			}
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-changes.C:
			}
			for uri, ok := changes.Take(); ok; uri, ok = changes.Take() {
				if !yield(Change{URI: uri}, nil) {
					return
				}
			}
		}
	}
}

func parseURIs(uris []string) (parsed []abi.URI, err error) {
	for _, uri := range uris {
		u, err := abi.ParseURI(uri)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, u)
	}
	return parsed, nil
}
