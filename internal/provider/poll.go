package provider

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	minPoll = 100 * time.Millisecond
	maxPoll = time.Hour

	maxPolled = 4096 // resources that are polled at once
)

// A caller asks the guest about one URI.
type caller interface {
	about(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error)
	implements(op abi.Op) bool
	changed(uri string)
}

func (p *Provider) about(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error) {
	routed, _, err := p.route(&abi.Request{URI: uri, IfNoneMatch: etag})
	if err != nil {
		return nil, err
	}
	defer p.module.Settle()
	return p.module.Call(ctx, op, routed, sink)
}

func (p *Provider) changed(uri string) { p.results.changed(uri) }

func (p *Provider) implements(op abi.Op) bool { return p.module.Manifest().Implements(op) }

// A poll is one URI somebody watches. It is guarded by the hub's mu.
type poll struct {
	refs     int
	stop     context.CancelFunc  // ends the asking; nil when the guest speaks up by itself
	watchers map[*watcher]string // with the URI as they asked for it; not yet those who still acquire others
	changed  bool                // its watchers are to be told
}

func (p *poll) add(w *watcher, asked string) {
	if p.watchers == nil {
		p.watchers = make(map[*watcher]string)
	}
	p.watchers[w] = asked
}

// acquire counts one more watcher of uri. The first makes the guest be asked, and then again and again if it says so.
func (h *hub) acquire(ctx context.Context, uri string) error {
	if err := abi.CheckURI(uri); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "invalid URI: %v", err)
	}
	if h.share(uri) {
		return nil
	}
	every, err := h.subscribe(ctx, uri)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, raced := h.polls[uri]; raced {
		p.refs++
		return nil
	}
	p := &poll{refs: 1}
	if every > 0 && !h.closed {
		if h.polled == maxPolled {
			return abi.Errorf(abi.CodeBusy, "%d resources are polled already", maxPolled)
		}
		h.polled++
		pollCtx, cancel := context.WithCancel(h.ctx)
		p.stop = cancel
		h.done.Go(func() { h.keepAsking(pollCtx, uri, every) })
	}
	h.polls[uri] = p
	return nil
}

// inTurn asks the guest about uri when few others do whom nobody waits for.
func (h *hub) inTurn(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error) {
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return h.caller.about(ctx, op, uri, etag, sink)
}

// share joins those who watch uri already.
func (h *hub) share(uri string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.polls[uri]
	if ok {
		p.refs++
	}
	return ok
}

// subscribe asks the guest how often uri wants to be polled; zero for never.
func (h *hub) subscribe(ctx context.Context, uri string) (time.Duration, error) {
	if !h.caller.implements(abi.OpSubscribe) {
		return 0, nil
	}
	reply, err := h.caller.about(ctx, abi.OpSubscribe, uri, "", nil)
	if err != nil {
		return 0, err
	}
	if reply.PollMillis == 0 || !h.caller.implements(abi.OpPoll) {
		return 0, nil
	}
	return min(max(time.Duration(reply.PollMillis)*time.Millisecond, minPoll), maxPoll), nil
}

// release counts one watcher less of each of uris; the last ends the asking.
func (h *hub) release(uris []string) {
	for _, uri := range uris {
		if h.drop(uri) && h.caller.implements(abi.OpUnsubscribe) && h.ctx.Err() == nil {
			if _, err := h.inTurn(h.ctx, abi.OpUnsubscribe, uri, "", nil); err != nil {
				h.log.Debug("unsubscribe refused", "code", abi.CodeOf(err).String())
			}
		}
	}
}

// drop reports whether nobody watches uri any longer.
func (h *hub) drop(uri string) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.polls[uri]
	if p.refs--; p.refs > 0 {
		return false
	}
	delete(h.polls, uri)
	if p.stop != nil {
		p.stop()
		h.polled--
	}
	return true
}

// keepAsking polls uri and publishes each change of its etag. The first answer is what later ones are compared with.
func (h *hub) keepAsking(ctx context.Context, uri string, every time.Duration) {
	etag, known := h.ask(ctx, uri, "")
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, ok := h.ask(ctx, uri, etag)
		if ok && known && now != etag {
			h.publish(ctx, uri)
		}
		if ok {
			etag, known = now, true
		}
	}
}

// ask gives the current etag of uri, or false when the guest cannot tell.
func (h *hub) ask(ctx context.Context, uri, etag string) (string, bool) {
	seen := etagSink{}
	if _, err := h.inTurn(ctx, abi.OpPoll, uri, etag, &seen); err != nil {
		h.log.Debug("poll failed", "code", abi.CodeOf(err).String())
		return "", false
	}
	if seen.unchanged {
		return etag, true
	}
	return seen.etag, true
}

// An etagSink keeps what a poll answers and drops bodies.
type etagSink struct {
	etag      string
	unchanged bool
}

func (s *etagSink) Content(c *abi.Content) error {
	s.etag, s.unchanged = c.ETag, c.NotModified
	return nil
}
func (s *etagSink) Body([]byte) error     { return nil }
func (s *etagSink) Progress(abi.Progress) {}
