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

// ErrClosing is the cause of a context that ends because the server does, or needs the place of a stream for another
// client. A subscription then ends with its result, as it does for no other reason.
var ErrClosing = errors.New("the server is shutting down")

// ErrCancelled is the cause of the context of a request that its client has cancelled by notifications/cancelled. Such a
// request gets no JSON-RPC answer.
var ErrCancelled = errors.New("cancelled by the client")

// IsCancelled reports whether ctx is that of a request whose client has cancelled it.
func IsCancelled(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrCancelled)
}

// Listen serves m, a request for subscriptions/listen, until ctx ends: it hands send the acknowledgment, then a
// notification for each change, all without line ends and valid until send returns. An error is not sent but returned,
// before the acknowledgment. An error of send ends the subscription.
//
// While send blocks, changes are merged: a client that does not read costs no more than the set of URIs it watches.
func (c *Core) Listen(ctx context.Context, m *Message, send func(message []byte) error) (failure *Error) {
	defer c.catch(ctx, &request{method: ListenMethod, modern: true}, &failure)
	woken := make(chan struct{}, 1) // holds one token while there may be something to say
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
		_ = send(s.AppendEnd(nil)) // the last message: whether it arrives changes nothing
	}
	return nil
}

// run tells the client what there is to say, until ctx ends. The error is one of send.
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

// A filter says what a client is to be told.
type filter struct {
	list   bool     // that the list has changed
	uris   []string // that one of these has
	byURIs bool     // the client asked for some, of which none may be left
}

// wanted gives the names of the changes, the list's "".
func (f *filter) wanted() map[string]struct{} {
	wanted := make(map[string]struct{})
	for _, uri := range f.uris {
		wanted[uri] = struct{}{}
	}
	if f.list {
		wanted[""] = struct{}{}
	}
	return wanted
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
		case len(seen) == MaxWatched:
			err = invalidParams("resourceSubscriptions has more than %d URIs", MaxWatched)
		default:
			seen[uri] = true
			if abi.CheckURI(uri) == nil {
				uris = append(uris, uri)
			}
		}
	})
	return uris, err
}
