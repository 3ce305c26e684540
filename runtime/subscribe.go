package runtime

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/wasmres/wasmres/abi"
)

// A Change says that a resource has changed, or the list of resources.
type Change struct {
	URI string // as given to Subscribe; empty for the list
}

// Subscribe gives a Change each time one of uris has changed, or the list of resources when uris is empty, until ctx
// ends, which is no error. Changes that come while the body of the loop runs are merged. A URI that cannot be subscribed
// to ends the loop with abi.CodeUnsupported before any Change.
func (p *Provider) Subscribe(ctx context.Context, uris ...string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		pending := newChanges()
		accepted, err := p.inner.Watch(ctx, uris, len(uris) == 0, pending.add)
		if err != nil {
			yield(Change{}, err)
			return
		}
		for _, uri := range uris {
			if !slices.Contains(accepted, uri) {
				yield(Change{}, abi.Errorf(abi.CodeUnsupported, "resource %s cannot be subscribed to", uri))
				return
			}
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-pending.wake:
			}
			for uri, ok := pending.take(); ok; uri, ok = pending.take() {
				if !yield(Change{URI: uri}, nil) {
					return
				}
			}
		}
	}
}

// changes merges changes: each URI is pending once, the oldest is taken first.
type changes struct {
	wake chan struct{} // has a value when something is pending

	mu      sync.Mutex
	pending []string // guarded by mu
}

func newChanges() *changes { return &changes{wake: make(chan struct{}, 1)} }

func (c *changes) add(uri string) {
	c.mu.Lock()
	if !slices.Contains(c.pending, uri) {
		c.pending = append(c.pending, uri)
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *changes) take() (uri string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return "", false
	}
	uri = c.pending[0]
	c.pending = c.pending[1:]
	return uri, true
}
