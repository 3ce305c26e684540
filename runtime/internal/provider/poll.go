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
	uri      string // in normal form, which all who watch it share; fixed at creation
	refs     int
	every    time.Duration       // between two polls of the guest; 0 for none
	stop     context.CancelFunc  // ends the asking again and again; nil when the guest speaks up by itself
	watchers map[*watcher]string // with the URI as they asked for it; not yet those who still acquire others
	looked   bool                // it is looked at when a feed tells of a change; fixed at creation

	version versioned
}

func (p *poll) add(w *watcher, asked string) {
	if p.watchers == nil {
		p.watchers = make(map[*watcher]string)
	}
	p.watchers[w] = asked
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
