package legacy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Notifications sent from here.
const (
	resourceUpdated = "notifications/resources/updated"
	listChanged     = "notifications/resources/list_changed"
)

// breath is the least time between telling a client of the same thing twice.
const breath = 10 * time.Millisecond

// A watch is one subscription. The session has it from before the source is asked, so that it misses no change.
type watch struct {
	// fixed at creation
	session *session
	uri     string // "" is the list
	ctx     context.Context
	cancel  context.CancelFunc // and gives uri back
	begun   chan struct{}      // closed when the source has answered

	refusal *mcp.Error // of the source; set before begun is closed
	told    uint64     // the id of the event that told of it last; 0 for none; guarded by the session's mu
}

// subscribe begins a subscription to uri, or to the list when it is empty. One that is there already stays as it is; one
// that another request begins is waited for.
func (s *session) subscribe(ctx context.Context, uri string) *mcp.Error {
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
		return s.front.sourceError(ctx.Err(), uri)
	}
	if s.ctx.Err() != nil {
		return &mcp.Error{Code: mcp.CodeInternalError, Message: errEnded.Error()}
	}
	return w.refusal
}

// register gives the subscription to uri, which it makes where there is none. It outlives ctx, but keeps what that says
// of the client.
func (s *session) register(ctx context.Context, uri string) (w *watch, isNew bool, refusal *mcp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watches[uri]; w != nil {
		return w, false, nil
	}
	switch {
	case s.ended:
		return nil, false, &mcp.Error{Code: mcp.CodeInternalError, Message: errEnded.Error()}
	case uri != "" && len(s.watches) > s.front.cfg.MaxSubscriptions: // one of watches is the list
		return nil, false, tooMany(s.front.cfg.MaxSubscriptions)
	}
	if uri != "" {
		kept := []string{uri}
		if err := s.front.cfg.URIs.Take(kept); err != nil {
			return nil, false, s.front.sourceError(err, uri)
		}
		uri = kept[0]
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w = &watch{session: s, uri: uri, ctx: ctx, begun: make(chan struct{})}
	w.cancel = sync.OnceFunc(func() { cancel(); s.front.forget(uri) })
	s.watches[uri] = w
	return w, true, nil
}

// forget gives back the URI of a subscription that has ended; the list, "", has none.
func (f *Front) forget(uri string) {
	if uri != "" {
		f.cfg.URIs.Drop(uri)
	}
}

// begin asks the source for the subscription, and ends it where the source refuses.
func (w *watch) begin() {
	defer close(w.begun)
	w.refusal = &mcp.Error{Code: mcp.CodeInternalError, Message: "internal error"} // of a source that panics
	defer func() {
		if w.refusal != nil {
			w.session.drop(w)
		}
	}()
	w.refusal = w.ask()
}

// ask asks the source. A subscription that has ended meanwhile is no failure of the source.
func (w *watch) ask() *mcp.Error {
	f := w.session.front
	var uris []string
	if w.uri != "" {
		uris = []string{w.uri}
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

// changed has the client told of a change, unless the subscription has ended.
func (w *watch) changed(uri string) {
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if uri == w.uri && s.watches[uri] == w {
		s.changes.Add(uri)
	}
}

// watching reports whether the client has a subscription to uri.
func (s *session) watching(uri string) bool {
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
		s.changes.Remove(w.uri)
	}
}

// deliver tells a client on stdio what changed, until the session ends.
func (s *session) deliver() { s.changes.Drain(s.ctx, breath, s.tell) }

// tell tells the client of one change, unless it has unsubscribed meanwhile.
func (s *session) tell(uri string) error {
	if !s.watching(uri) {
		return nil
	}
	ctx := context.Background() // of no request
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

// notify sends one notification to this client, on the stream of the request ctx belongs to.
func (s *session) notify(ctx context.Context, method string, params json.RawMessage) error {
	req := &sdk.ServerRequest[*rawParams]{Session: s.sdk, Params: &rawParams{raw: params}}
	_, err := s.front.send(ctx, method, req)
	return err
}

// rawParams are parameters that are JSON already.
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
