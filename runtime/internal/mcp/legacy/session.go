package legacy

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

// Notifications sent from here.
const (
	resourceUpdated = "notifications/resources/updated"
	listChanged     = "notifications/resources/list_changed"
)

// breath is the least time between telling a client of the same thing twice.
const breath = 10 * time.Millisecond

// A session is one client: what it has subscribed to, what it has not been told yet, and what it has running.
//
// Each subscription is a Watch of its own, and the list is one more: to subscribe never disturbs what is being watched,
// and to let go is to cancel one context. Their callbacks only mark what changed; one goroutine tells the client, that of
// its GET stream or deliver, so that a slow client delays no other, and several changes of one resource become one
// notification.
type session struct {
	// fixed at creation
	front  *Front
	sdk    *sdk.ServerSession
	opened time.Time
	wake   chan struct{} // holds one token while there may be something to tell
	done   chan struct{} // closed by end

	// guarded by the front's mu
	client  string // over HTTP, as [mcp.ClientOf] names it
	counted bool   // among the client's

	agreed atomic.Pointer[mcp.Revision] // once the handshake is over; nil before

	mu          sync.Mutex // guards the fields below
	ended       bool
	watches     map[string]*watch   // by URI; "" is the list
	unsaid      map[string]struct{} // what changed, of watches
	stream      *stream             // over HTTP; nil while there is none
	leaveStream func()              // gives the place of stream back; nil while there is none
	// lastEvent is the id of the last event of a stream; streamBegan is that of the last one before the newest stream.
	lastEvent, streamBegan uint64
	calls                  map[string]context.CancelCauseFunc // by id, as it came, or by what no id is
	lastCall               int
	// responses are those of POSTs that the SDK answers, by the id of each request, as it came.
	responses map[string]*response
	requests  int         // HTTP requests under way
	idle      *time.Timer // looks whether the session is idle; nil before that can be
	used      time.Time   // the end of the last HTTP request
}

// A watch is one subscription. Its fields are guarded by the session's mu.
type watch struct {
	cancel context.CancelFunc
	early  bool   // it changed before the session knew of it
	told   uint64 // the id of the event that told of it last; 0 for none
}

func newSession(f *Front, ss *sdk.ServerSession) *session {
	return &session{
		front:   f,
		opened:  time.Now(),
		used:    time.Now(),
		sdk:     ss,
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		watches: make(map[string]*watch),
		unsaid:  make(map[string]struct{}),
		calls:   make(map[string]context.CancelCauseFunc),

		responses: make(map[string]*response),
	}
}

// name is by what others tell the session from others; a pipe has one that is the process's only.
func (s *session) name() string { return cmp.Or(s.sdk.ID(), "stdio") }

// end stops what the session watches and runs, unless it is over or mayEnd, which is called with mu held, forbids it. No
// request is admitted afterwards. It waits for nothing, and reports whether it has ended the session.
func (s *session) end(mayEnd func() bool) bool {
	if !s.stop(mayEnd) {
		return false
	}
	s.front.cfg.Core.EndSession(s.name())
	return true
}

func always() bool { return true }

func (s *session) stop(mayEnd func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || !mayEnd() {
		return false
	}
	s.ended = true
	close(s.done)
	if s.idle != nil {
		s.idle.Stop()
	}
	for _, w := range s.watches {
		w.cancel()
	}
	clear(s.watches)
	clear(s.unsaid)
	return true
}

// cut ends the session now: what runs is cancelled, not answered. It waits for nothing.
func (s *session) cut(cause error) {
	s.end(always)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.calls {
		cancel(cause)
	}
}

// abort cuts the session and waits for what ran.
func (s *session) abort(cause error) {
	s.cut(cause)
	_ = s.sdk.Close()
}

// enter counts an HTTP request; a session that has one under way, be it a stream, is not idle. It reports false when the
// session has ended.
func (s *session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.requests++
	return true
}

// leave ends what enter began.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLocked()
}

func (s *session) leaveLocked() {
	s.requests--
	if s.requests > 0 || s.ended {
		return
	}
	s.used = time.Now()
	if s.idle == nil {
		_, left := s.patienceLocked()
		s.idle = time.AfterFunc(left, s.look)
	}
}

// patienceLocked gives how long the session may still go on without a request, and whether it may go on for longer while
// one is under way: not before the handshake is over, for which there is little time.
func (s *session) patienceLocked() (extends bool, left time.Duration) {
	idle := s.front.cfg.Idle - time.Since(s.used)
	if s.agreed.Load() != nil {
		return true, idle
	}
	return false, min(idle, handshakeTime-time.Since(s.opened))
}

// look ends the session if it has been idle for too long, or looks again when it may have been.
func (s *session) look() { s.expire(errIdle, s.isOverdue) }

// isOverdue reports whether the session is to end now. If not, it sees to it that look is called in time.
func (s *session) isOverdue() bool {
	switch extends, left := s.patienceLocked(); {
	case extends && s.requests > 0:
		s.idle = nil // the last request sets it again
	case left > 0:
		s.idle.Reset(left)
	default:
		return true
	}
	return false
}

// isUnused reports whether no request is under way.
func (s *session) isUnused() bool { return s.requests == 0 }

// expire ends the session, if isOver holds at that moment, and waits for what ran.
func (s *session) expire(cause error, isOver func() bool) bool {
	if !s.end(isOver) {
		return false
	}
	s.front.cfg.Logger.Debug("http session ended", "err", cause)
	s.abort(cause)
	return true
}

// lastUse gives the end of the last HTTP request.
func (s *session) lastUse() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// admit counts an HTTP request that is answered without the SDK, as enter does, which abort and cancel end by cancel. It
// reports false when the session has ended, or has a call with that id.
func (s *session) admit(id string, cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.calls[id] != nil {
		return false
	}
	s.calls[id] = cancel
	s.requests++
	return true
}

// settle ends what admit began.
func (s *session) settle(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
	s.leaveLocked()
}

// begin makes the context of a call of the SDK's, which abort ends too.
func (s *session) begin(ctx context.Context) (_ context.Context, finish func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		cancel(errEnded)
		return ctx, func() {}
	}
	s.lastCall++
	id := "#" + strconv.Itoa(s.lastCall)
	s.calls[id] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
		cancel(nil)
	}
}

// cancel ends the call with that id, and reports whether there is one. A nil session has none.
func (s *session) cancel(id string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.calls[id]
	if end == nil {
		return false
	}
	end(mcp.ErrCancelled)
	return true
}

// watch starts a subscription to uri, or to the list when it is empty. One that is there already stays as it is.
func (s *session) watch(ctx context.Context, uri string) *mcp.Error {
	if s.watching(uri) {
		return nil
	}
	if refusal := s.mayWatch(uri); refusal != nil {
		return refusal
	}
	var uris []string
	if uri != "" {
		uris = []string{uri}
		if err := s.front.cfg.URIs.Take(uris); err != nil {
			return s.front.sourceError(err, uri)
		}
		uri = uris[0]
	}
	// The subscription outlives the request, but keeps what its context says of the client.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &watch{cancel: sync.OnceFunc(func() { cancel(); s.front.forget(uri) })}
	watched, err := s.front.cfg.Source.Watch(ctx, uris, uri == "", func(uri string) { s.changed(w, uri) })
	switch {
	case err != nil:
		w.cancel()
		return s.front.sourceError(err, uri)
	case uri != "" && len(watched) == 0:
		w.cancel()
		return notFound(uri)
	}
	return s.keep(uri, w)
}

// forget gives back the URI of a subscription that has ended; the list, "", has none.
func (f *Front) forget(uri string) {
	if uri != "" {
		f.cfg.URIs.Drop(uri)
	}
}

// keep takes w in, unless the session has ended meanwhile or another request was quicker.
func (s *session) keep(uri string, w *watch) *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[uri] != nil {
		w.cancel()
		return nil
	}
	if refusal := s.mayWatchLocked(uri); refusal != nil {
		w.cancel()
		return refusal
	}
	s.watches[uri] = w
	if w.early {
		s.unsaid[uri] = struct{}{}
		s.nudge()
	}
	return nil
}

func (s *session) watching(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[uri] != nil
}

func (s *session) mayWatch(uri string) *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mayWatchLocked(uri)
}

func (s *session) mayWatchLocked(uri string) *mcp.Error {
	switch {
	case s.ended:
		return &mcp.Error{Code: mcp.CodeInternalError, Message: errEnded.Error()}
	case uri != "" && len(s.watches) > s.front.cfg.MaxSubscriptions: // one of watches is the list
		return tooMany(s.front.cfg.MaxSubscriptions)
	}
	return nil
}

// unwatch ends a subscription, if there is one.
func (s *session) unwatch(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watches[uri]; w != nil {
		w.cancel()
	}
	delete(s.watches, uri)
	delete(s.unsaid, uri)
}

// changed marks uri, or the list, as something to tell the client. It is the callback of w.
func (s *session) changed(w *watch, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[uri] != w {
		w.early = true
		return
	}
	s.unsaid[uri] = struct{}{}
	s.nudge()
}

// nudge makes deliver try again.
func (s *session) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// deliver tells a client on stdio what changed until the session ends.
func (s *session) deliver() {
	for {
		select {
		case <-s.done:
			return
		case <-s.wake:
		}
		for uri := range s.take() {
			if s.watching(uri) && s.tell(uri) != nil {
				s.putBack(uri) // the next change nudges
			}
		}
		select { // so that a restless source does not flood the client
		case <-s.done:
			return
		case <-time.After(breath):
		}
	}
}

// take gives what is unsaid, which is then taken for said.
func (s *session) take() map[string]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.unsaid
	s.unsaid = make(map[string]struct{})
	return taken
}

// putBack makes uri unsaid again, unless it is no longer wanted.
func (s *session) putBack(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[uri] != nil {
		s.unsaid[uri] = struct{}{}
	}
}

func (s *session) tell(uri string) error {
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
