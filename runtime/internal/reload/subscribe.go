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

	at        *generation        // that reports to it; nil for none
	marks     []any              // at at: of the list, then of each of uris; nil for unknown
	end       context.CancelFunc // ends what at reports; nil if it refused
	ignoreEnd func() bool        // stops waiting for the end of ctx
	moving    bool               // to the current generation
}

// Subscribe implements [resource.Source].
func (s *Source) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	sub := &subscription{ctx: ctx, notifier: n, list: list}
	for registered := false; !registered; {
		var end context.CancelFunc
		g := s.enter()
		if g == nil {
			sub.uris, sub.marks, end, err = uris, nil, func() {}, nil
		} else {
			marks := g.marksOf(ctx, uris)
			sub.uris, end, err = sub.subscribe(g, uris)
			sub.marks = marksOfSome(marks, uris, sub.uris)
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
		if registered, err = s.register(sub, g, end); err != nil {
			return nil, err
		}
	}
	return sub.uris, nil
}

// subscribe subscribes to g, until ctx or end ends it. It fails if g is replaced meanwhile.
func (sub *subscription) subscribe(g *generation, uris []abi.URI) (accepted []abi.URI, end context.CancelFunc, err error) {
	ctx, end := context.WithCancel(sub.ctx)
	ignoreReplaced := context.AfterFunc(g.ctx, end)
	accepted, err = g.Subscribe(ctx, uris, sub.list, sub.notifier)
	if !ignoreReplaced() && err == nil {
		err = context.Canceled
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return accepted, end, nil
}

// register makes Replace move sub from now on. It returns false if g, to which sub has subscribed or which is nil, is
// no longer the current generation; then it ends that.
func (s *Source) register(sub *subscription, g *generation, end context.CancelFunc) (registered bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		end()
		return false, errClosing()
	case s.current != g:
		end()
		return false, nil
	}
	if g != nil {
		g.subscriptions.Add(1)
	}
	sub.at, sub.end = g, end
	s.subscriptions[sub] = struct{}{}
	sub.ignoreEnd = context.AfterFunc(sub.ctx, func() { s.forget(sub) })
	return true, nil
}

func (s *Source) forget(sub *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscriptions, sub)
	sub.leaveLocked()
}

// leaveLocked ends what sub gets of its generation, unless it is being moved: then nextFor does.
func (sub *subscription) leaveLocked() {
	if sub.moving {
		return
	}
	sub.setLocked(nil, nil)
}

// setLocked has sub be at g, to which it has subscribed already, and leave the generation before.
func (sub *subscription) setLocked(g *generation, end context.CancelFunc) {
	if sub.end != nil {
		sub.end()
	}
	if sub.at != nil {
		sub.at.subscriptions.Done()
	}
	sub.at, sub.end = g, end
}

// moveLocked starts moving sub to the current generation, unless it is being moved already.
func (s *Source) moveLocked(sub *subscription) {
	if !sub.moving {
		sub.moving = true
		s.work.Go(func() { s.move(sub) })
	}
}

// move subscribes to the current generation, and to the next one if it is replaced meanwhile. Until it has, the generation
// before goes on reporting, so that no change is lost.
func (s *Source) move(sub *subscription) {
	s.moveSlots <- struct{}{}
	defer func() { <-s.moveSlots }()
	for g := s.nextFor(sub); g != nil; g = s.nextFor(sub) {
		marks := g.marksOf(sub.ctx, sub.uris) // before it subscribes: a change between is told rather than not
		_, end, err := sub.subscribe(g, sub.uris)
		if err != nil && g.ctx.Err() != nil { // replaced: the next one is asked
			g.subscriptions.Done()
			g.calls.Done()
			continue
		}
		if err != nil {
			marks = nil // the next one cannot tell what is missed
			if sub.ctx.Err() == nil {
				s.cfg.Logger.Warn("subscription not moved to the new provider", "uris", len(sub.uris), "err", err)
			}
		}
		changed := sub.changes(marks)
		s.mu.Lock()
		sub.setLocked(g, end)
		s.mu.Unlock()
		sub.marks = marks
		g.calls.Done()
		for _, uri := range changed {
			resource.Notify(sub.notifier, uri)
		}
	}
}

// changes returns what has another mark than before: URIs, and the empty string for the list. Only move calls it, which alone
// changes what it reads.
func (sub *subscription) changes(marks []any) (changed []string) {
	isSame := func(i int) bool {
		return sub.marks != nil && marks != nil && sub.marks[i] != nil && sub.marks[i] == marks[i]
	}
	if sub.list && !isSame(0) {
		changed = append(changed, "")
	}
	for i, uri := range sub.uris {
		if !isSame(i + 1) {
			changed = append(changed, uri.String())
		}
	}
	return changed
}

// marksOf returns the marks of the list and of URIs; nil if g has none.
func (g *generation) marksOf(ctx context.Context, uris []abi.URI) []any {
	marked, ok := g.Generation.(Marked)
	if !ok {
		return nil
	}
	marks := []any{marked.Mark(ctx, abi.URI{})}
	for _, uri := range uris {
		marks = append(marks, marked.Mark(ctx, uri))
	}
	return marks
}

// marksOfSome returns those marks that are of the accepted ones of some URIs, which are in the same order.
func marksOfSome(marks []any, uris, accepted []abi.URI) []any {
	if marks == nil {
		return nil
	}
	some := marks[:1:1]
	at := 0
	for _, uri := range accepted {
		for at < len(uris) && uris[at] != uri {
			at++
		}
		if at == len(uris) {
			return nil
		}
		some = append(some, marks[at+1])
		at++
	}
	return some
}

// nextFor begins a call and a subscription on the generation to which sub must move. It returns nil, and ends the moving,
// when there is none.
func (s *Source) nextFor(sub *subscription) *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || sub.ctx.Err() != nil {
		sub.moving = false
		sub.setLocked(nil, nil)
		return nil
	}
	if s.current == sub.at {
		sub.moving = false
		return nil
	}
	g := s.current
	g.calls.Add(1)
	g.subscriptions.Add(1)
	return g
}
