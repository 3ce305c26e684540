package mcptest

import (
	"context"
	"sync"
)

// A watcher wants to know of some changes.
type watcher struct {
	wanted map[string]bool // by URI; "" is the list
	wake   chan struct{}   // holds one token while something is pending

	mu      sync.Mutex // guards the field below
	pending map[string]bool
}

// Watch implements resource.Source: resources that are there can be watched.
func (s *Source) Watch(ctx context.Context, uris []string, listChanged bool, notify func(uri string)) ([]string, error) {
	w := &watcher{wanted: make(map[string]bool), wake: make(chan struct{}, 1), pending: make(map[string]bool)}
	s.mu.Lock()
	defer s.mu.Unlock()
	var watched []string
	for _, uri := range uris {
		if _, ok := s.resources[uri]; ok {
			w.wanted[uri] = true
			watched = append(watched, uri)
		}
	}
	w.wanted[""] = listChanged
	s.watchers[w] = struct{}{}
	s.turnout.Broadcast()
	go func() { // ends with ctx
		w.deliver(ctx, notify)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
		s.turnout.Broadcast()
	}()
	return watched, nil
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
			w.add(uri)
		}
	}
}

func (w *watcher) add(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[uri] = true
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.pending
	w.pending = make(map[string]bool)
	return taken
}

func (w *watcher) deliver(ctx context.Context, notify func(string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		for uri := range w.take() {
			notify(uri)
		}
	}
}
