package composite

import (
	"context"
	"sync"
)

// Watch implements [resource.Source]: each member watches those of uris that belong to it, and all watch the list if that is
// wanted. What a member cannot watch, or does not begin to in time, is left out; only when that befalls all of those
// that were asked, the failure of the first is returned.
func (s *Source) Watch(ctx context.Context, uris []string, listChanged bool, notify func(uri string)) ([]string, error) {
	split := s.split(uris)
	began := make([]outcome[[]string], len(s.members))
	tell := (&teller{ctx: ctx, notify: notify, pending: map[string]struct{}{}}).changed
	var beginning sync.WaitGroup
	asked := 0
	for i, m := range s.members {
		if len(split[i]) == 0 && !listChanged {
			continue
		}
		asked++
		beginning.Go(func() { began[i].value, began[i].err = s.watch(ctx, m, split[i], listChanged, tell) })
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

// watch has one member watch until ctx ends, or not at all.
func (s *Source) watch(
	ctx context.Context, m *member, uris []string, listChanged bool, notify func(string),
) (watched []string, err error) {
	watching, stop := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	return within(watching, s, m, func(context.Context) ([]string, error) {
		return m.Source.Watch(watching, uris, listChanged, notify)
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

// A teller brings the changes of all members to one who hears them one at a time. Whoever comes while somebody tells
// leaves the change to that one and need not wait.
type teller struct {
	// fixed at creation
	ctx    context.Context // of the watch
	notify func(uri string)

	mu      sync.Mutex // guards the fields below
	telling bool
	pending map[string]struct{}
}

// changed tells of a change, or leaves it to who tells now.
func (t *teller) changed(uri string) {
	if !t.begin(uri) {
		return
	}
	for uri, ok := t.next(); ok; uri, ok = t.next() {
		if t.ctx.Err() == nil {
			t.notify(uri)
		}
	}
}

// begin notes a change and reports whether nobody tells.
func (t *teller) begin(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[uri] = struct{}{}
	begun := !t.telling
	t.telling = true
	return begun
}

// next takes a change, or ends the telling.
func (t *teller) next() (uri string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uri := range t.pending {
		delete(t.pending, uri)
		return uri, true
	}
	t.telling = false
	return "", false
}
