package provider

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A watcher wants to know of some URIs, and perhaps of the list.
type watcher struct {
	// fixed at creation
	ctx      context.Context
	notifier resource.Notifier
	held     []string // in normal form
	list     bool

	leave func() bool // ends the waiting for the end of ctx; guarded by the hub's mu
}

// publish reports a change of uri, or of the list, "", to all who watch it. It does not block: while a change is being
// reported, others of the same URI are merged.
func (h *hub) publish(_ context.Context, uri string) {
	if uri == "" {
		h.listVersion.Add(1)
	}
	normal := abi.NormalURI(uri)
	h.caller.changed(normal)
	if h.isWatched(normal) {
		h.changes.Add(normal)
	}
}

// isWatched reports whether somebody watches uri; "" is the list.
func (h *hub) isWatched(uri string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.polls[uri]
	return ok || uri == "" && len(h.list.watchers) > 0
}

// report reports changes until there are none.
func (h *hub) report() {
	var to []recipient
	for uri, ok := h.changes.Take(); ok; uri, ok = h.changes.Take() {
		to = h.appendRecipients(to[:0], uri)
		for _, r := range to {
			if r.watcher.ctx.Err() == nil && h.ctx.Err() == nil {
				resource.Notify(r.watcher.notifier, r.asked)
			}
		}
	}
}

// A recipient is a watcher of a resource, or of the list.
type recipient struct {
	watcher *watcher
	asked   string // the URI as the watcher spelled it; "" for the list
}

// appendRecipients appends all who watch uri now; "" is the list.
func (h *hub) appendRecipients(to []recipient, uri string) []recipient {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.list
	if uri != "" {
		p = h.polls[uri]
	}
	if p == nil {
		return to
	}
	for w, asked := range p.watchers {
		to = append(to, recipient{w, asked})
	}
	return to
}
