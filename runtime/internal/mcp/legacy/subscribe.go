package legacy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Notifications sent from here.
const (
	resourceUpdated = "notifications/resources/updated"
	listChanged     = "notifications/resources/list_changed"
)

// minInterval is the least time between two notifications of the same resource to one client.
const minInterval = 10 * time.Millisecond

// A watch is one subscription. The session has it before the source has accepted it, so that it misses no change.
type watch struct {
	// fixed at creation
	session *session
	of      abi.URI // zero for the list
	uri     string  // of as given; "" is the list
	ctx     context.Context
	cancel  context.CancelFunc // also gives up the memory of uri
	begun   chan struct{}      // closed when the source has answered

	refusal   *mcp.Error // of the source; set before begun is closed
	lastEvent uint64     // the id of its last event; 0 for none; guarded by the session's mu
}

// subscribe begins a subscription to uri, or to the list when it is zero. It does nothing if there is one, but waits until
// the source has accepted it.
func (s *session) subscribe(ctx context.Context, uri abi.URI) *mcp.Error {
	w, isNew, refusal := s.register(ctx, uri)
	if refusal != nil {
		return refusal
	}
	if isNew {
		w.begin()
	}
	select {
	case <-w.begun:
	case <-ctx.Done():
		return s.front.sourceError(ctx.Err(), uri.String())
	}
	if s.ctx.Err() != nil {
		return &mcp.Error{Code: mcp.CodeInternalError, Message: errEnded.Error()}
	}
	return w.refusal
}

// register returns the subscription to uri, and makes one if there is none. A subscription keeps the values of ctx, but
// does not end with it.
func (s *session) register(ctx context.Context, uri abi.URI) (w *watch, isNew bool, refusal *mcp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watches[uri.String()]; w != nil {
		return w, false, nil
	}
	switch {
	case s.ended:
		return nil, false, &mcp.Error{Code: mcp.CodeInternalError, Message: errEnded.Error()}
	case !uri.IsZero() && len(s.watches) > s.front.cfg.MaxSubscriptions: // one of watches is the list
		return nil, false, tooMany(s.front.cfg.MaxSubscriptions)
	}
	if !uri.IsZero() {
		if refusal := s.useStreamLocked(ctx); refusal != nil {
			return nil, false, refusal
		}
		kept := []abi.URI{uri}
		if err := s.front.cfg.URIs.Take(kept); err != nil {
			s.unuseStreamLocked(nil)
			return nil, false, s.front.sourceError(err, uri.String())
		}
		uri = kept[0]
	}
	ctx, cancel := context.WithCancel(auth.WithSession(context.WithoutCancel(ctx), s.name()))
	w = &watch{session: s, of: uri, uri: uri.String(), ctx: ctx, begun: make(chan struct{})}
	w.cancel = sync.OnceFunc(func() { cancel(); s.front.dropURI(w.uri) })
	s.watches[w.uri] = w
	return w, true, nil
}

// dropURI releases the memory of the URI of a subscription that has ended. "", for the list, takes none.
func (f *Front) dropURI(uri string) {
	if uri != "" {
		f.cfg.URIs.Drop(uri)
	}
}

// begin subscribes to the source, and ends the subscription if the source refuses.
func (w *watch) begin() {
	defer close(w.begun)
	w.refusal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"} // of a source that panics
	defer func() {
		if w.refusal != nil {
			w.session.drop(w)
		}
	}()
	w.refusal = w.subscribe()
}

// subscribe subscribes to the source. There is no error when the watch has ended meanwhile.
func (w *watch) subscribe() *mcp.Error {
	f := w.session.front
	var uris []abi.URI
	if w.uri != "" {
		uris = []abi.URI{w.of}
	}
	accepted, err := f.cfg.Source.Subscribe(w.ctx, uris, w.uri == "", resource.NotifierFunc(w.changed))
	switch {
	case w.ctx.Err() != nil:
		return nil
	case err != nil:
		return f.sourceError(err, w.uri)
	case w.uri != "" && len(accepted) == 0:
		return notFound(w.uri)
	}
	return nil
}

// changed adds a change, unless the subscription has ended.
func (w *watch) changed(uri string) {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if uri == w.uri && s.watches[uri] == w {
		s.changes.Add(uri)
	}
}

// isWatching reports whether the client has a subscription to uri.
func (s *session) isWatching(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[uri] != nil
}

// unsubscribe ends a subscription, if there is one.
func (s *session) unsubscribe(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watches[uri]; w != nil {
		s.dropLocked(w)
	}
}

// drop ends a subscription.
func (s *session) drop(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(w)
}

func (s *session) dropLocked(w *watch) {
	w.cancel()
	if s.watches[w.uri] == w {
		delete(s.watches, w.uri)
		s.unuseStreamLocked(w)
		s.changes.Remove(w.uri)
	}
}

// deliver sends changes to a client on stdio until the session ends.
func (s *session) deliver() { s.changes.Drain(s.ctx, minInterval, s.send) }

// send sends one change, unless the client has unsubscribed meanwhile.
func (s *session) send(uri string) error {
	if !s.isWatching(uri) {
		return nil
	}
	ctx := context.Background() // belongs to no request
	if uri == "" {
		return s.notify(ctx, listChanged, nil)
	}
	params, err := json.Marshal(struct {
		URI string `json:"uri"`
	}{uri})
	if err != nil {
		return err
	}
	return s.notify(ctx, resourceUpdated, params)
}

// notify sends a notification to the client, on the stream of the request to which ctx belongs.
func (s *session) notify(ctx context.Context, method string, params json.RawMessage) error {
	req := &sdk.ServerRequest[*rawParams]{Session: s.sdk, Params: &rawParams{raw: params}}
	_, err := s.front.send(ctx, method, req)
	return err
}

// rawParams are parameters that are encoded already.
type rawParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

func (p *rawParams) MarshalJSON() ([]byte, error) {
	if len(p.raw) == 0 {
		return []byte("{}"), nil
	}
	return p.raw, nil
}
