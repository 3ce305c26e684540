package swap

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A watcher wants to know of some URIs, and perhaps of the list, whichever generation there is.
type watcher struct {
	// fixed at creation
	ctx      context.Context
	notifier resource.Notifier
	list     bool

	uris []string // fixed when it joins

	// guarded by the source's mu
	at     *generation // that watches for it
	leave  func() bool // ends the waiting for the end of ctx
	moving bool        // to the current generation
}

// Subscribe implements [resource.Source].
func (s *Source) Subscribe(
	ctx context.Context, uris []string, list bool, n resource.Notifier,
) (accepted []string, err error) {
	w := &watcher{ctx: ctx, notifier: n, list: list}
	for joined := false; !joined; {
		g := s.enter()
		if g == nil {
			w.uris, err = valid(uris), nil
		} else {
			w.uris, err = w.watch(g, uris)
			g.calls.Done()
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && g.ctx.Err() == nil:
			return nil, err
		case err != nil: // for the generation was replaced
			continue
		}
		if joined, err = s.join(w, g); err != nil {
			return nil, err
		}
	}
	return w.uris, nil
}

// valid gives those of uris that are any.
func valid(uris []string) (list []string) {
	for _, uri := range uris {
		if abi.CheckURI(uri) == nil {
			list = append(list, uri)
		}
	}
	return list
}

// watch has g watch uris until the end of w, or of g's turn.
func (w *watcher) watch(g *generation, uris []string) (watched []string, err error) {
	ctx, stop := context.WithCancel(w.ctx)
	forget := context.AfterFunc(g.ctx, stop)
	context.AfterFunc(ctx, func() { forget() })
	if watched, err = g.Subscribe(ctx, uris, w.list, w.notifier); err != nil {
		stop()
	}
	return watched, err
}

// join lets w in, for which g watches; nil is none. When that is not the current generation any more, w is to be
// watched for by the other.
func (s *Source) join(w *watcher, g *generation) (joined bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return false, closing()
	case s.current != g:
		return false, nil
	}
	w.at = g
	s.watchers[w] = struct{}{}
	w.leave = context.AfterFunc(w.ctx, func() { s.forget(w) })
	return true, nil
}

func (s *Source) forget(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
}

// followLocked has w move to the current generation, unless it is on its way already.
func (s *Source) followLocked(w *watcher) {
	if !w.moving {
		w.moving = true
		s.work.Go(func() { s.move(w) })
	}
}

// move has the current generation watch for w, and the next one when that has been replaced meanwhile.
func (s *Source) move(w *watcher) {
	s.turns <- struct{}{}
	defer func() { <-s.turns }()
	for g := s.next(w); g != nil; g = s.next(w) {
		_, err := w.watch(g, w.uris)
		g.calls.Done()
		if g.ctx.Err() != nil {
			continue
		}
		if err != nil && w.ctx.Err() == nil {
			s.cfg.Logger.Warn("a watch was not carried over", "uris", len(w.uris), "err", err)
		}
		w.reportAll()
	}
}

// reportAll reports a change of everything that w subscribed to: another generation serves it.
func (w *watcher) reportAll() {
	if w.list {
		w.notifier.ListChanged()
	}
	for _, uri := range w.uris {
		w.notifier.Updated(uri)
	}
}

// next begins a call on the generation that w is to move to, or ends the moving.
func (s *Source) next(w *watcher) *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.current == w.at || w.ctx.Err() != nil {
		w.moving = false
		return nil
	}
	w.at = s.current
	w.at.calls.Add(1)
	return w.at
}
