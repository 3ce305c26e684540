package provider

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// tooLong is how long a watcher may keep a courier from the others.
const tooLong = 10 * time.Millisecond

// A watcher wants to know of some URIs, and perhaps of the list.
type watcher struct {
	// fixed at creation
	ctx    context.Context
	notify func(uri string)
	held   []string // in normal form
	list   bool

	// guarded by the hub's mu
	leave   func() bool         // ends the waiting for the end of ctx
	pending map[string]struct{} // as asked for; "" is the list; nil when there is nothing
	queued  bool                // a courier is to come
	busy    bool                // a courier is here
}

// A delivery is what is to be brought to watchers. One courier at a time is under way for as long as there is something
// to bring: those who watch cost no goroutine. A watcher who keeps the courier is left to it, and another takes over.
// Changes that come while a watcher is busy are merged. All is guarded by the hub's mu.
type delivery struct {
	changed []*poll    // whose watchers have not been told yet
	ready   []*watcher // who have something pending, and no courier
	courier *courier   // nil when nobody is under way
}

// A courier goes from one watcher to the next.
type courier struct{ overtaken *time.Timer }

// publish tells all who watch uri; "" is the list. It waits for nobody.
func (h *hub) publish(_ context.Context, uri string) {
	if uri == "" {
		h.listVersion.Add(1)
	}
	normal := abi.NormalURI(uri)
	h.caller.changed(normal)
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.list
	if uri != "" {
		p = h.polls[normal]
	}
	if p == nil || p.changed {
		return
	}
	p.changed = true
	h.delivery.changed = append(h.delivery.changed, p)
	h.dispatchLocked()
}

// dispatchLocked sends a courier, if there is something to bring and nobody under way.
func (h *hub) dispatchLocked() {
	d := &h.delivery
	if h.closed || d.courier != nil || len(d.changed)+len(d.ready) == 0 {
		return
	}
	c := &courier{}
	c.overtaken = time.AfterFunc(tooLong, func() { h.overtake(c) })
	d.courier = c
	h.done.Go(func() { h.carry(c) })
}

// carry brings what is to be brought, until there is nothing or another courier has taken over.
func (h *hub) carry(c *courier) {
	defer c.overtaken.Stop()
	w, news := h.next(c, nil)
	for w != nil {
		c.overtaken.Reset(tooLong)
		for uri := range news {
			if w.ctx.Err() == nil && h.ctx.Err() == nil {
				w.notify(uri)
			}
		}
		w, news = h.next(c, w)
	}
}

// overtake has another courier go on for c.
func (h *hub) overtake(c *courier) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.delivery.courier == c {
		h.delivery.courier = nil
		h.dispatchLocked()
	}
}

// next says where c goes after last, with what; nil sends it home.
func (h *hub) next(c *courier, last *watcher) (w *watcher, news map[string]struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := &h.delivery
	if last != nil {
		last.busy = false
		d.queue(last)
	}
	if d.courier != c {
		h.dispatchLocked() // for last, perhaps
		return nil, nil
	}
	d.spread()
	if len(d.ready) == 0 || h.closed {
		d.courier = nil
		return nil, nil
	}
	w, d.ready[0] = d.ready[0], nil
	if d.ready = d.ready[1:]; len(d.ready) == 0 {
		d.ready = nil
	}
	news, w.pending = w.pending, nil
	w.queued, w.busy = false, true
	return w, news
}

// spread notes for each watcher what has changed.
func (d *delivery) spread() {
	for _, p := range d.changed {
		p.changed = false
		for w, asked := range p.watchers {
			if w.pending == nil {
				w.pending = make(map[string]struct{})
			}
			w.pending[asked] = struct{}{}
			d.queue(w)
		}
	}
	d.changed = d.changed[:0]
}

// queue has a courier come to w, if there is reason to.
func (d *delivery) queue(w *watcher) {
	if len(w.pending) > 0 && !w.queued && !w.busy {
		w.queued = true
		d.ready = append(d.ready, w)
	}
}
