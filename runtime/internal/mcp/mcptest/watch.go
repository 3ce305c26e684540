package mcptest

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A watcher wants to know of some changes.
type watcher struct {
	wanted   map[string]bool // by URI; "" is the list
	notifier resource.Notifier
}

// Subscribe implements [resource.Source]: it accepts resources that are there.
func (s *Source) Subscribe(ctx context.Context, uris []abi.URI, list bool, n resource.Notifier) (accepted []abi.URI, err error) {
	w := &watcher{wanted: make(map[string]bool), notifier: n}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uri := range uris {
		if _, ok := s.resources[uri.String()]; ok {
			w.wanted[uri.String()] = true
			accepted = append(accepted, uri)
		}
	}
	w.wanted[""] = list
	s.watchers[w] = struct{}{}
	s.turnout.Broadcast()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
		s.turnout.Broadcast()
	})
	return accepted, nil
}

// Watchers counts the watches that have not ended.
func (s *Source) Watchers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watchers)
}

// AwaitWatchers waits until there are n watches.
func (s *Source) AwaitWatchers(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.watchers) != n {
		s.turnout.Wait()
	}
}

// publishLocked tells the watchers of a change.
func (s *Source) publishLocked(uri string) {
	for w := range s.watchers {
		if w.wanted[uri] {
			resource.Notify(w.notifier, uri)
		}
	}
}
