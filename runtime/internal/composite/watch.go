package composite

import (
	"context"
	"sync"

	"github.com/wasmres/wasmres/runtime/resource"
)

// Subscribe implements [resource.Source]: each member subscribes n to those of uris that belong to it, and to the list if
// that is asked for. URIs that a member refuses, or does not accept in time, are left out. Only when all members fail that
// were asked, Subscribe returns the failure of the first.
func (s *Source) Subscribe(ctx context.Context, uris []string, list bool, n resource.Notifier) (accepted []string, err error) {
	split := s.split(uris)
	began := make([]outcome[[]string], len(s.members))
	var beginning sync.WaitGroup
	asked := 0
	for i, m := range s.members {
		if len(split[i]) == 0 && !list {
			continue
		}
		asked++
		beginning.Go(func() { began[i].value, began[i].err = s.subscribe(ctx, m, split[i], list, n) })
	}
	beginning.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.began(ctx, uris, asked, began)
}

// split gives those of uris that belong to each member.
func (s *Source) split(uris []string) [][]string {
	split := make([][]string, len(s.members))
	for _, uri := range uris {
		if owner, ok := s.owners.of(uri); ok {
			split[owner] = append(split[owner], uri)
		}
	}
	return split
}

// subscribe subscribes n to one member until ctx ends, or not at all.
func (s *Source) subscribe(
	ctx context.Context, m *member, uris []string, list bool, n resource.Notifier,
) (accepted []string, err error) {
	subscribed, stop := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	return within(subscribed, s, m, func(context.Context) ([]string, error) {
		return m.Source.Subscribe(subscribed, uris, list, n)
	})
}

// began gives those of uris that are watched, in their order.
func (s *Source) began(ctx context.Context, uris []string, asked int, began []outcome[[]string]) ([]string, error) {
	got := map[string]bool{}
	var failures []error
	for i, b := range began {
		for _, uri := range b.value {
			got[uri] = true
		}
		if b.err != nil {
			failures = append(failures, s.named(i, b.err))
			s.warn(ctx, "a watch goes without a provider", s.members[i], b.err)
		}
	}
	if asked > 0 && len(failures) == asked {
		return nil, failures[0]
	}
	var watched []string
	for _, uri := range uris {
		if got[uri] {
			watched = append(watched, uri)
			delete(got, uri)
		}
	}
	return watched, nil
}
