package mcp

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// ListenMethod is the one method that [Core.Listen] answers instead of [Core.Answer].
const ListenMethod = "subscriptions/listen"

// MaxWatched is how many URIs one stream, or one session, may watch.
const MaxWatched = 1024

// ErrClosing is the cause of a context that ends because the server shuts down, or because another client gets the
// stream's place. Only then does a subscription end with its result.
var ErrClosing = errors.New("the server is shutting down")

// ErrCancelled is the cause of the context of a request that the client has cancelled by notifications/cancelled. The
// request then gets no JSON-RPC answer.
var ErrCancelled = errors.New("cancelled by the client")

// IsCancelled reports whether ctx is that of a request whose client has cancelled it.
func IsCancelled(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrCancelled)
}

// Listen serves m, a request for subscriptions/listen, until ctx ends. It calls send with the acknowledgment, then with a
// notification for each change; messages have no line ends and are valid until send returns. Listen returns a failure
// instead of the acknowledgment, and does not send it. An error of send ends the subscription.
//
// While send blocks, changes are merged: a client that does not read costs no more than its set of URIs.
func (c *Core) Listen(ctx context.Context, m *Message, send func(message []byte) error) (failure *Error) {
	defer c.recoverPanic(ctx, &request{method: ListenMethod, modern: true, params: new(params)}, &failure)
	woken := make(chan struct{}, 1) // holds one token while there may be messages
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, failure := c.Subscribe(ctx, m, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}, func() { cancel(ErrClosing) })
	if failure != nil {
		return failure
	}
	defer s.Close()
	if s.run(ctx, woken, send) == nil && errors.Is(context.Cause(ctx), ErrClosing) {
		_ = send(s.AppendEnd(nil)) // the last message; an error changes nothing
	}
	return nil
}

// run sends messages until ctx ends. The error is one of send.
func (s *Subscription) run(ctx context.Context, woken <-chan struct{}, send func([]byte) error) error {
	var b []byte
	for {
		for ctx.Err() == nil {
			message, ok := s.Append(b[:0])
			if !ok {
				break
			}
			if err := send(message); err != nil {
				return err
			}
			if b = message; cap(b) > inflight.Free {
				b = nil // a subscription lasts for hours
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		}
	}
}

// A filter has the changes that a client subscribes to.
type filter struct {
	list   bool      // changes of the list
	uris   []abi.URI // changes of these resources
	byURIs bool      // the client sent a list of URIs, of which uris may have none
}

// keys returns the names of the changes: the URIs, and "" for the list.
func (f *filter) keys() map[string]struct{} {
	wanted := make(map[string]struct{})
	for _, uri := range f.uris {
		wanted[uri.String()] = struct{}{}
	}
	if f.list {
		wanted[""] = struct{}{}
	}
	return wanted
}

// parseFilter decodes the parameter notifications. It leaves out unknown kinds of notifications and strings that are not
// URIs.
func parseFilter(raw []byte) (f filter, err *Error) {
	var list, uris []byte
	if !parseObject(raw, choose("resourcesListChanged", &list, "resourceSubscriptions", &uris)) {
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

// parseURIs decodes an array of strings and returns those that are URIs, each once.
func parseURIs(array []byte) (uris []abi.URI, err *Error) {
	seen := make(map[string]bool)
	eachItem(array, 0, maxDepth, func(value []byte) {
		uri, ok := unquote(value)
		switch {
		case !ok:
			err = invalidParams("resourceSubscriptions has an item that is not a string")
		case seen[uri]:
		case len(seen) == MaxWatched:
			err = invalidParams("resourceSubscriptions has more than %d URIs", MaxWatched)
		default:
			seen[uri] = true
			if parsed, invalid := abi.ParseURI(uri); invalid == nil {
				uris = append(uris, parsed)
			}
		}
	})
	return uris, err
}
