package subscribe

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Publish reports a change of uri, or of the list where it is empty, to all subscribers. It does not block; changes of one
// URI are merged until they are reported.
func (b *Broker) Publish(_ context.Context, uri string) {
	if uri == "" {
		b.listVersion.Add(1)
	}
	normal := abi.NormalURI(uri)
	b.cfg.OnChange(normal)
	if b.hasSubscribers(normal) {
		b.changes.Add(normal)
	}
}

// hasSubscribers reports whether uri, or the list where it is empty, has any.
func (b *Broker) hasSubscribers(uri string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if uri == "" {
		return len(b.ofList) > 0
	}
	return b.subscriptions[uri] != nil
}

// report reports changes until there are none.
func (b *Broker) report() {
	var to []recipient
	for uri, ok := b.changes.Take(); ok; uri, ok = b.changes.Take() {
		to = b.appendRecipients(to[:0], uri)
		for _, r := range to {
			if r.ctx.Err() == nil && b.ctx.Err() == nil {
				resource.Notify(r.notifier, r.uri)
			}
		}
	}
}

// A recipient is a subscriber, with the URI as it spelled it; "" for the list.
type recipient struct {
	*subscriber
	uri string
}

// appendRecipients appends the subscribers of uri, or of the list where it is empty.
func (b *Broker) appendRecipients(to []recipient, uri string) []recipient {
	b.mu.Lock()
	defer b.mu.Unlock()
	if uri == "" {
		for s := range b.ofList {
			to = append(to, recipient{s, ""})
		}
		return to
	}
	if sub := b.subscriptions[uri]; sub != nil {
		for s, asked := range sub.subscribers {
			to = append(to, recipient{s, asked})
		}
	}
	return to
}
