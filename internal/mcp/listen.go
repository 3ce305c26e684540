package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/wasmres/wasmres/abi"
)

// ListenMethod is the one method that [Core.Listen] answers instead of [Core.Answer].
const ListenMethod = "subscriptions/listen"

// maxWatched is how many URIs one subscription may name.
const maxWatched = 1024

// ErrClosing is the cause of a context that ends because the server does. A subscription then ends with its result, as
// it does for no other reason.
var ErrClosing = errors.New("the server is shutting down")

// Listen serves m, a request for subscriptions/listen, until ctx ends: it hands send the acknowledgment, then a
// notification for each change, all without line ends and valid until send returns. An error is not sent but returned,
// before the acknowledgment. An error of send ends the subscription.
//
// While send blocks, changes are merged: a client that does not read costs no more than the set of URIs it watches.
func (c *Core) Listen(ctx context.Context, m *Message, send func(message []byte) error) (failure *Error) {
	r := &request{method: ListenMethod, modern: true}
	defer c.catch(ctx, r, &failure)
	if err := c.CheckModern(m); err != nil {
		return err
	}
	f, invalid := parseFilter(m.params.notifications)
	if invalid != nil {
		return invalid
	}
	if c.listening.Add(1) > int64(c.cfg.MaxSubscriptions) {
		c.listening.Add(-1)
		return &Error{Code: CodeInternalError, Message: "Subscription limit reached"}
	}
	defer c.listening.Add(-1)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	s := newSubscription(m.ID, f)
	if len(s.wanted) > 0 {
		var err error
		if f.uris, err = c.cfg.Source.Watch(watching, f.uris, f.list, s.changed); err != nil {
			return c.fail(ctx, r, err)
		}
	}
	if s.run(ctx, f, send) == nil && errors.Is(context.Cause(ctx), ErrClosing) {
		_ = send(c.appendClosure(nil, m.ID)) // the last message: whether it arrives changes nothing
	}
	return nil
}

// appendClosure appends the result of a subscription that ends well.
func (c *Core) appendClosure(b []byte, id json.RawMessage) []byte {
	b = appendResultHead(b, id)
	b = append(b, `{"resultType":"complete","_meta":{`...)
	b = append(b, c.server...)
	b = append(b, `,"`+metaSubscription+`":`...)
	b = append(b, id...)
	return append(b, `}}}`...)
}

// A filter says what a client is to be told.
type filter struct {
	list   bool     // that the list has changed
	uris   []string // that one of these has
	byURIs bool     // the client asked for some, of which none may be left
}

// parseFilter decodes the parameter notifications. Kinds of notification we do not know, and what is no URI, are left
// out of what is agreed.
func parseFilter(raw []byte) (f filter, err *Error) {
	var list, uris []byte
	if !pick(raw, choose("resourcesListChanged", &list, "resourceSubscriptions", &uris)) {
		return f, invalidParams("notifications is missing or not an object")
	}
	switch string(list) {
	case "", "null", "false":
	case "true":
		f.list = true
	default:
		return f, invalidParams("resourcesListChanged is not a boolean")
	}
	if isNull(uris) {
		return f, nil
	}
	if uris[0] != '[' {
		return f, invalidParams("resourceSubscriptions is not an array")
	}
	f.byURIs = true
	f.uris, err = parseURIs(uris)
	return f, err
}

// parseURIs decodes an array of URIs, each once, without those that are none.
func parseURIs(array []byte) (uris []string, err *Error) {
	seen := make(map[string]bool)
	eachItem(array, 0, maxDepth, func(value []byte) {
		uri, ok := unquote(value)
		switch {
		case !ok:
			err = invalidParams("resourceSubscriptions has an item that is not a string")
		case seen[uri]:
		case len(seen) == maxWatched:
			err = invalidParams("resourceSubscriptions has more than %d URIs", maxWatched)
		default:
			seen[uri] = true
			if abi.CheckURI(uri) == nil {
				uris = append(uris, uri)
			}
		}
	})
	return uris, err
}

// A subscription is one client's stream of changes. A change is named by its URI; that of the list is "".
type subscription struct {
	// fixed at creation
	id     json.RawMessage
	wanted map[string]bool
	wake   chan struct{} // holds one token while there may be something unsaid

	mu     sync.Mutex // guards the field below
	unsaid map[string]struct{}
}

func newSubscription(id json.RawMessage, f filter) *subscription {
	s := &subscription{
		id: id, wanted: make(map[string]bool), wake: make(chan struct{}, 1), unsaid: make(map[string]struct{}),
	}
	for _, uri := range f.uris {
		s.wanted[uri] = true
	}
	if f.list {
		s.wanted[""] = true
	}
	return s
}

// changed notes a change, to be told when the client takes it.
func (s *subscription) changed(uri string) {
	if !s.wanted[uri] {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsaid[uri] = struct{}{}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// next takes a change.
func (s *subscription) next() (uri string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.unsaid {
		delete(s.unsaid, uri)
		return uri, true
	}
	return "", false
}

// run tells the client what was agreed, then what changes, until ctx ends. The error is one of send.
func (s *subscription) run(ctx context.Context, agreed filter, send func([]byte) error) error {
	b := s.appendAcknowledgment(nil, agreed)
	if err := send(b); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		}
		for uri, ok := s.next(); ok && ctx.Err() == nil; uri, ok = s.next() {
			b = s.appendChange(b[:0], uri)
			if err := send(b); err != nil {
				return err
			}
		}
	}
}

func (s *subscription) appendAcknowledgment(b []byte, agreed filter) []byte {
	b = s.appendHead(b, "notifications/subscriptions/acknowledged")
	b = append(b, `,"notifications":{`...)
	if agreed.list {
		b = append(b, `"resourcesListChanged":true`...)
	}
	if agreed.list && agreed.byURIs {
		b = append(b, ',')
	}
	if agreed.byURIs {
		b = append(b, `"resourceSubscriptions":`...)
		b = appendStrings(b, agreed.uris)
	}
	return append(b, `}}}`...)
}

func (s *subscription) appendChange(b []byte, uri string) []byte {
	if uri == "" {
		b = s.appendHead(b, "notifications/resources/list_changed")
	} else {
		b = s.appendHead(b, "notifications/resources/updated")
		b = appendMember(b, "uri", uri)
	}
	return append(b, `}}`...)
}

// appendHead appends a notification up to the first of its parameters, which names the subscription.
func (s *subscription) appendHead(b []byte, method string) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(b, method...)
	b = append(b, `","params":{"_meta":{"`+metaSubscription+`":`...)
	b = append(b, s.id...)
	return append(b, '}')
}
