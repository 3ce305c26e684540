package reload

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A subscription moves from each generation to the next.
type subscription struct {
	// fixed at creation
	ctx      context.Context
	notifier resource.Notifier
	list     bool

	uris []abi.URI // fixed when it is registered

	// the generation that reports to it, or will soon; nil for none
	at        *generation // that reports to it, or will soon; nil for none
	ignoreEnd func() bool // stops waiting for the end of ctx
	moving    bool        // to the current generation
}

// Subscribe implements [resource.Source].
func (s *Source) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	sub := &subscription{ctx: ctx, notifier: n, list: list}
	for registered := false; !registered; {
		g := s.enter()
		if g == nil {
			sub.uris, err = uris, nil
		} else {
			sub.uris, err = sub.subscribe(g, uris)
			g.calls.Done()
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && g.ctx.Err() == nil:
			return nil, err
		case err != nil: // since g was replaced: the next one is asked
			continue
		}
		if registered, err = s.register(sub, g); err != nil {
			return nil, err
		}
	}
	return sub.uris, nil
}

// subscribe subscribes to g, until ctx ends or g is replaced.
func (sub *subscription) subscribe(g *generation, uris []abi.URI) (accepted []abi.URI, err error) {
	ctx, stop := context.WithCancel(sub.ctx)
	ignoreReplaced := context.AfterFunc(g.ctx, stop)
	context.AfterFunc(ctx, func() { ignoreReplaced() })
	if accepted, err = g.Subscribe(ctx, uris, sub.list, sub.notifier); err != nil {
		stop()
	}
	return accepted, err
}

// register makes Replace move sub from now on. It returns false if g, to which sub has subscribed or which is nil, is
// no longer the current generation.
func (s *Source) register(sub *subscription, g *generation) (registered bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return false, errClosing()
	case s.current != g:
		return false, nil
	}
	sub.at = g
	s.subscriptions[sub] = struct{}{}
	sub.ignoreEnd = context.AfterFunc(sub.ctx, func() { s.forget(sub) })
	return true, nil
}

func (s *Source) forget(sub *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscriptions, sub)
}

// moveLocked starts moving sub to the current generation, unless it is being moved already.
func (s *Source) moveLocked(sub *subscription) {
	if !sub.moving {
		sub.moving = true
		s.work.Go(func() { s.move(sub) })
	}
}

// move subscribes to the current generation, and to the next one if it is replaced meanwhile.
func (s *Source) move(sub *subscription) {
	s.moveSlots <- struct{}{}
	defer func() { <-s.moveSlots }()
	for g := s.nextFor(sub); g != nil; g = s.nextFor(sub) {
		_, err := sub.subscribe(g, sub.uris)
		g.calls.Done()
		if g.ctx.Err() != nil {
			continue
		}
		if err != nil && sub.ctx.Err() == nil {
			s.cfg.Logger.Warn("subscription not moved to the new provider", "uris", len(sub.uris), "err", err)
		}
		sub.reportAll()
	}
}

// reportAll reports a change of all subscribed resources, since another generation serves them.
func (sub *subscription) reportAll() {
	if sub.list {
		sub.notifier.ListChanged()
	}
	for _, uri := range sub.uris {
		sub.notifier.Updated(uri.String())
	}
}

// nextFor begins a call on the generation to which sub must move. It returns nil, and ends the moving, when there is
// none.
func (s *Source) nextFor(sub *subscription) *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.current == sub.at || sub.ctx.Err() != nil {
		sub.moving = false
		return nil
	}
	sub.at = s.current
	sub.at.calls.Add(1)
	return sub.at
}
