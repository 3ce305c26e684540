package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/wasmres/wasmres/internal/wire"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Subscription is one client's stream of changes, for a front that asks for the messages when it can write them.
// Until then changes are merged: it never has more to say than there are URIs to watch. It is safe for concurrent use,
// and costs no goroutine.
type Subscription struct {
	// fixed at creation
	core    *Core
	id      json.RawMessage
	stop    context.CancelFunc
	leave   func()              // gives the place back
	wanted  map[string]struct{} // the URIs, "" for the list
	changes *coalesce.Set       // of wanted

	mu     sync.Mutex // guards the fields below
	agreed *filter    // to be acknowledged; nil once it was
	named  int        // URIs of agreed that parts of the acknowledgment have named so far
	closed bool
}

// Subscribe begins what m asks for, a request for subscriptions/listen. ctx bounds the beginning; what it says of the
// client is kept, its end ends nothing later. wake is called when there is something to say, if Append has found nothing
// since the last wake; it must not block, and may be called before Subscribe returns, and once more after Close has. end
// is called, likewise, when another client needs the place: the caller then writes AppendEnd and closes. The caller calls
// Close.
//
// The acknowledgment is there at once, without a wake.
func (c *Core) Subscribe(ctx context.Context, m *Message, wake, end func()) (s *Subscription, failure *Error) {
	r := &request{method: ListenMethod, modern: true}
	defer c.catch(ctx, r, &failure)
	if err := c.CheckModern(m); err != nil {
		return nil, err
	}
	f, invalid := parseFilter(m.params.notifications)
	if invalid != nil {
		return nil, invalid
	}
	leave, full := c.OpenStream(ctx, m.Client, end)
	if full != nil {
		return nil, full
	}
	if err := c.cfg.URIs.Take(f.uris); err != nil {
		leave()
		return nil, c.fail(ctx, r, err)
	}
	made := &Subscription{
		core: c, id: bytes.Clone(m.ID), leave: leave, wanted: f.wanted(), changes: coalesce.New(wake), agreed: &f,
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

// watch has the source tell of what f names, and takes from f what cannot be watched.
func (s *Subscription) watch(ctx context.Context, f *filter) (err error) {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	if len(s.wanted) == 0 {
		return nil
	}
	defer context.AfterFunc(ctx, stop)()
	f.uris, err = s.core.cfg.Source.Subscribe(watching, f.uris, f.list, resource.NotifierFunc(s.changed))
	return err
}

// Close ends the subscription, and makes room for another. It is idempotent.
func (s *Subscription) Close() {
	s.stop()
	s.leave()
	s.changes.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.giveBackLocked()
	}
}

// giveBackLocked gives back the URIs that were asked for.
func (s *Subscription) giveBackLocked() {
	for uri := range s.wanted {
		if uri != "" {
			s.core.cfg.URIs.Drop(uri)
		}
	}
}

// changed notes a change, to be told when the client takes it. What a source reports beside what it was asked for has no
// bound, and is discarded.
func (s *Subscription) changed(uri string) {
	if _, ok := s.wanted[uri]; ok {
		s.changes.Add(uri)
	}
}

// Append appends the next message, without a line end: the acknowledgment first, then a notification for each change.
// ok is false when there is nothing to say.
func (s *Subscription) Append(b []byte) (out []byte, ok bool) {
	out, whole, ok := s.AppendPart(b)
	for ok && !whole {
		out, whole, ok = s.AppendPart(out)
	}
	return out, ok
}

// AppendPart does as Append, and appends no more than the next part of a message that is long: until whole, the next
// call goes on with the same message. So a client that does not read holds no more than a part.
func (s *Subscription) AppendPart(b []byte) (out []byte, whole, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agreed != nil {
		b, whole = s.acknowledgeLocked(b)
		return b, whole, true
	}
	uri, ok := s.changes.Take()
	if !ok {
		return b, true, false
	}
	return s.appendChange(b, uri), true, true
}

// AppendEnd appends the result, the last message of a subscription that ends because the server does.
func (s *Subscription) AppendEnd(b []byte) []byte {
	b = appendResultHead(b, s.id)
	b = append(b, `{"resultType":"complete","_meta":{`...)
	b = append(b, s.core.server...)
	b = append(b, `,"`+metaSubscription+`":`...)
	b = append(b, s.id...)
	return append(b, `}}}`...)
}

// messagePart is the size from which on a part of a message ends, in bytes.
const messagePart = 8 << 10

// acknowledgeLocked appends the acknowledgment, or its next part.
func (s *Subscription) acknowledgeLocked(b []byte) (out []byte, whole bool) {
	begin := len(b)
	if s.named == 0 {
		b = s.appendAcknowledgmentHead(b)
	}
	for ; s.named < len(s.agreed.uris); s.named++ {
		if len(b)-begin >= messagePart {
			return b, false
		}
		b = comma(b, s.named)
		b = wire.AppendString(b, s.agreed.uris[s.named])
	}
	if s.agreed.byURIs {
		b = append(b, ']')
	}
	s.agreed = nil
	return append(b, `}}}`...), true
}

// appendAcknowledgmentHead appends the acknowledgment up to the first URI.
func (s *Subscription) appendAcknowledgmentHead(b []byte) []byte {
	b = s.appendHead(b, "notifications/subscriptions/acknowledged")
	b = append(b, `,"notifications":{`...)
	if s.agreed.list {
		b = append(b, `"resourcesListChanged":true`...)
	}
	if s.agreed.list && s.agreed.byURIs {
		b = append(b, ',')
	}
	if s.agreed.byURIs {
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
