package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/wasmres/wasmres/internal/textenc"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Subscription is one client's stream of changes, for a front that takes each message when it can write it. Until
// then changes are merged: at most one message for each URI waits. It is safe for concurrent use and has no goroutine.
type Subscription struct {
	// fixed at creation
	core    *Core
	id      json.RawMessage
	stop    context.CancelFunc
	leave   func()              // frees the place of the stream
	filter  map[string]struct{} // the URIs, "" for the list
	changes *coalesce.Set       // pending changes that pass filter

	mu     sync.Mutex // guards the fields below
	ack    *filter    // still to be acknowledged; nil after that
	named  int        // URIs of ack in the parts of the acknowledgment so far
	closed bool
}

// Subscribe begins the subscription of m, a request for subscriptions/listen. ctx bounds only the beginning; its values
// stay in use. wake is called when there is a message, if Append has found none since the last wake. It must not block;
// it may be called before Subscribe returns, and once after Close has returned. end is called, under the same rules, when
// another client gets the place: the caller then writes AppendEnd and closes. The caller calls Close.
//
// The acknowledgment is ready at once, without a wake.
func (c *Core) Subscribe(ctx context.Context, m *Message, wake, end func()) (s *Subscription, failure *Error) {
	r := &request{method: ListenMethod, modern: true, params: &m.params}
	ctx, r.access = c.beginAccess(ctx, r, Revision20260728, m.Trace)
	more := 0
	defer func() { c.recordListen(ctx, r, more, failure) }()
	defer c.recoverPanic(ctx, r, &failure)
	if err := c.CheckModern(m); err != nil {
		return nil, err
	}
	f, invalid := parseFilter(m.params.notifications)
	if invalid != nil {
		return nil, invalid
	}
	if len(f.uris) > 0 {
		more = len(f.uris) - 1
		r.access.setTarget(f.uris[0].String())
	}
	leave, full := c.openStream(ctx, m.Client, end)
	if full != nil {
		return nil, full
	}
	if err := c.cfg.URIs.Take(f.uris); err != nil {
		leave()
		return nil, c.fail(ctx, r, err)
	}
	made := &Subscription{
		core: c, id: bytes.Clone(m.ID), leave: leave, filter: f.keys(), changes: coalesce.New(wake), ack: &f,
	}
	defer func() {
		if s == nil {
			made.Close()
		}
	}()
	if err := made.watch(ctx, &f); err != nil {
		return nil, c.fail(ctx, r, err)
	}
	return made, nil
}

// watch subscribes to the source, and removes from f the URIs that the source does not accept.
func (s *Subscription) watch(ctx context.Context, f *filter) (err error) {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	if len(s.filter) == 0 {
		return nil
	}
	defer context.AfterFunc(ctx, stop)()
	f.uris, err = s.core.cfg.Source.Subscribe(watching, f.uris, f.list, resource.NotifierFunc(s.changed))
	return err
}

// Close ends the subscription and frees its place. It is idempotent.
func (s *Subscription) Close() {
	s.stop()
	s.leave()
	s.changes.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.dropURIsLocked()
	}
}

// dropURIsLocked releases the URIs of the filter.
func (s *Subscription) dropURIsLocked() {
	for uri := range s.filter {
		if uri != "" {
			s.core.cfg.URIs.Drop(uri)
		}
	}
}

// changed records a change for the next Append. It discards changes outside of the filter, since their number has no
// bound.
func (s *Subscription) changed(uri string) {
	if _, ok := s.filter[uri]; ok {
		s.changes.Add(uri)
	}
}

// Append appends the next message, without a line end: the acknowledgment first, then a notification for each change. ok
// is false if there is no message.
func (s *Subscription) Append(b []byte) (out []byte, ok bool) {
	out, whole, ok := s.AppendPart(b)
	for ok && !whole {
		out, whole, ok = s.AppendPart(out)
	}
	return out, ok
}

// AppendPart is Append for one part of a message: until whole is true, the next call continues the same message. So a
// client that does not read costs no more memory than a part.
func (s *Subscription) AppendPart(b []byte) (out []byte, whole, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ack != nil {
		b, whole = s.acknowledgeLocked(b)
		return b, whole, true
	}
	uri, ok := s.changes.Take()
	if !ok {
		return b, true, false
	}
	return s.appendChange(b, uri), true, true
}

// AppendEnd appends the result, the last message of a subscription that the server ends.
func (s *Subscription) AppendEnd(b []byte) []byte {
	b = appendResultHead(b, s.id)
	b = append(b, `{"resultType":"complete","_meta":{`...)
	b = append(b, s.core.server...)
	b = append(b, `,"`+metaSubscription+`":`...)
	b = append(b, s.id...)
	return append(b, `}}}`...)
}

// messagePart is the size at which a part of a message ends, in bytes.
const messagePart = 8 << 10

// acknowledgeLocked appends the acknowledgment, or its next part.
func (s *Subscription) acknowledgeLocked(b []byte) (out []byte, whole bool) {
	begin := len(b)
	if s.named == 0 {
		b = s.appendAcknowledgmentHead(b)
	}
	for ; s.named < len(s.ack.uris); s.named++ {
		if len(b)-begin >= messagePart {
			return b, false
		}
		b = comma(b, s.named)
		b = textenc.AppendString(b, s.ack.uris[s.named].String())
	}
	if s.ack.byURIs {
		b = append(b, ']')
	}
	s.ack = nil
	return append(b, `}}}`...), true
}

// appendAcknowledgmentHead appends the acknowledgment up to the first URI.
func (s *Subscription) appendAcknowledgmentHead(b []byte) []byte {
	b = s.appendHead(b, "notifications/subscriptions/acknowledged")
	b = append(b, `,"notifications":{`...)
	if s.ack.list {
		b = append(b, `"resourcesListChanged":true`...)
	}
	if s.ack.list && s.ack.byURIs {
		b = append(b, ',')
	}
	if s.ack.byURIs {
		b = append(b, `"resourceSubscriptions":[`...)
	}
	return b
}

func (s *Subscription) appendChange(b []byte, uri string) []byte {
	if uri == "" {
		b = s.appendHead(b, "notifications/resources/list_changed")
	} else {
		b = s.appendHead(b, "notifications/resources/updated")
		b = appendMember(b, "uri", uri)
	}
	return append(b, `}}`...)
}

// appendHead appends a notification up to the first of its parameters, which names the subscription.
func (s *Subscription) appendHead(b []byte, method string) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(b, method...)
	b = append(b, `","params":{"_meta":{"`+metaSubscription+`":`...)
	b = append(b, s.id...)
	return append(b, '}')
}
