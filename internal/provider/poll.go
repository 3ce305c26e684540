package provider

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	minPoll = 100 * time.Millisecond
	maxPoll = time.Hour

	maxPolled = 4096 // resources that are polled, or looked at, at once
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

// A poll is one URI somebody watches. Its fields are guarded by the hub's mu, but for those of its version.
type poll struct {
	refs     int
	stop     context.CancelFunc  // ends the asking again and again; nil when the guest speaks up by itself
	watchers map[*watcher]string // with the URI as they asked for it; not yet those who still acquire others
	changed  bool                // its watchers are to be told
	looked   bool                // it is looked at when a feed tells of a change; fixed at creation

	version versioned
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
	return h.begin(uri, every)
}

// begin counts the first watcher of uri, or one more when others were quicker.
func (h *hub) begin(uri string, every time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, raced := h.polls[uri]; raced {
		p.refs++
		return nil
	}
	p := &poll{refs: 1, version: newVersioned(every > 0)}
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
	if every == 0 && len(h.feeds.open) > 0 && h.polled < maxPolled {
		h.polled++
		p.looked = true
		h.fresh[uri] = struct{}{}
		h.lookLocked()
	}
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
	delete(h.fresh, uri)
	if p.stop != nil {
		p.stop()
	}
	if p.stop != nil || p.looked {
		h.polled--
	}
	return true
}

// keepAsking checks uri again and again.
func (h *hub) keepAsking(ctx context.Context, uri string, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for h.check(ctx, uri, time.Time{}) == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
