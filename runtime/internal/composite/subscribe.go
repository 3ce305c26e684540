package composite

import (
	"context"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Subscribe implements [resource.Source]. It subscribes n at each member to the uris that belong to it and, if list is
// set, to the list. It leaves out URIs that a member refuses, or does not accept in time. It returns an error only if
// all members asked fail: that of the first.
func (s *Source) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) (accepted []abi.URI, err error) {
	split := s.split(uris)
	outcomes := make([]outcome[[]abi.URI], len(s.members))
	var subscribing sync.WaitGroup
	asked := 0
	for i, m := range s.members {
		if len(split[i]) == 0 && !list {
			continue
		}
		asked++
		subscribing.Go(func() { outcomes[i].value, outcomes[i].err = s.subscribe(ctx, m, split[i], list, n) })
	}
	subscribing.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.accepted(ctx, uris, asked, outcomes)
}

// split returns those of uris that belong to each member.
func (s *Source) split(uris []abi.URI) [][]abi.URI {
	split := make([][]abi.URI, len(s.members))
	for _, uri := range uris {
		if owner, ok := s.owners.of(uri); ok {
			split[owner] = append(split[owner], uri)
		}
	}
	return split
}

// subscribe subscribes n to one member until ctx ends, or not at all.
func (s *Source) subscribe(
	ctx context.Context, m *member, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	subscribed, stop := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	return callMember(subscribed, s, m, func(context.Context) ([]abi.URI, error) {
		return m.Source.Subscribe(subscribed, uris, list, n)
	})
}

// accepted returns the uris that members have accepted, in the order of uris.
func (s *Source) accepted(ctx context.Context, uris []abi.URI, asked int, outcomes []outcome[[]abi.URI]) ([]abi.URI, error) {
	isAccepted := map[abi.URI]bool{}
	var failures []error
	for i, o := range outcomes {
		for _, uri := range o.value {
			isAccepted[uri] = true
		}
		if o.err != nil {
			failures = append(failures, s.withProvider(i, o.err))
			s.warn(ctx, "provider left out of a subscription", s.members[i], o.err)
		}
	}
	if asked > 0 && len(failures) == asked {
		return nil, failures[0]
	}
	var accepted []abi.URI
	for _, uri := range uris {
		if isAccepted[uri] {
			accepted = append(accepted, uri)
			delete(isAccepted, uri)
		}
	}
	return accepted, nil
}
