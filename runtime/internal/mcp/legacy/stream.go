package legacy

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

const (
	versionHeader     = "Mcp-Protocol-Version"
	lastEventIDHeader = "Last-Event-Id"

	// keepAlive is how often a comment is written to a GET stream.
	keepAlive = 15 * time.Second
	// maxWrite is how many bytes of events one write has, about.
	maxWrite = 16 << 10
)

// A stream is the GET stream of a session, by which the client receives changes. A session has one: a newer stream
// replaces the older, whose connection the client may have lost.
//
// Events are numbered through the whole session; the numbers are their ids. A session keeps no events, but for each
// subscription the number of its last event. When a client reconnects, the subscriptions whose last event it has not
// received count as changed again. So a client loses no change, and several changes of one resource are one event.
type stream struct {
	replaced chan struct{} // closed when a newer stream takes the place
}

// serveStream serves GET: a stream, until the client goes, a newer stream replaces it, or the session ends.
func (f *Front) serveStream(w *response, r *http.Request, s *session) {
	version := r.Header.Get(versionHeader)
	switch {
	case !acceptsEvents(r.Header.Values("Accept")):
		http.Error(w, "Accept must contain text/event-stream", http.StatusBadRequest)
		return
	case version != "" && !mcp.Revision(version).Legacy():
		http.Error(w, "MCP-Protocol-Version is not a revision with sessions", http.StatusBadRequest)
		return
	}
	st, failure := s.open(r)
	switch {
	case failure != nil: // after a status of 5xx some clients would end the session
		w.Header().Set("Retry-After", "10")
		writeError(w, http.StatusTooManyRequests, nil, failure)
		return
	case st == nil:
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	defer s.detach(st)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would buffer the stream
	s.runStream(w, r, st)
}

// runStream writes the events of st.
func (s *session) runStream(w *response, r *http.Request, st *stream) {
	if w.send(s.appendOpening(nil)) != nil {
		return
	}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	unauthorized, release := auth.Hold(r.Context())
	defer release()
	for {
		out, ok := s.appendEvents(nil, st)
		if !ok {
			return
		}
		var pause <-chan time.Time // limits the rate of events
		wake := s.changes.C
		if len(out) > 0 {
			if w.send(out) != nil {
				return
			}
			pause, wake = time.After(minInterval), nil
		}
		select {
		case <-r.Context().Done():
			return
		case <-st.replaced:
			return
		case <-unauthorized:
			return
		case <-s.ctx.Done():
			return
		case <-pause:
		case <-wake:
		case <-tick.C:
			if w.send([]byte(": alive\n\n")) != nil { // a proxy would close a silent stream
				return
			}
		}
	}
}

// open makes the stream of a GET that of the session. The stream is nil without a failure when the session has ended.
func (s *session) open(r *http.Request) (*stream, *mcp.Error) {
	lastID, client := r.Header.Get(lastEventIDHeader), mcp.ClientOf(r.RemoteAddr)
	if st, ok := s.attach(lastID, nil); ok {
		return st, nil
	}
	leave, failure := s.openStream(r.Context(), client)
	if failure != nil {
		return nil, failure
	}
	st, _ := s.attach(lastID, leave)
	return st, nil
}

// openStream takes the place of a stream. leave is called with mu held.
func (s *session) openStream(ctx context.Context, client string) (leave func(), failure *mcp.Error) {
	s.mu.Lock()
	failure = s.useStreamLocked(ctx)
	s.mu.Unlock()
	if failure != nil {
		return nil, failure
	}
	leavePlace, failure := s.front.cfg.Core.OpenStream(ctx, client, s.endStream)
	if failure != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unuseStreamLocked(nil)
		return nil, failure
	}
	return func() { leavePlace(); s.unuseStreamLocked(nil) }, nil
}

// attach makes a new stream that of the session; it is nil when the session has ended. lastID is the id of the last event
// that the client has received, or empty. leave gives up a place that was taken for the stream; nil for none. The stream
// takes the place of an older one if there is one. ok is false when it has no place.
func (s *session) attach(lastID string, leave func()) (_ *stream, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		if leave != nil {
			leave()
		}
		return nil, true
	case s.stream != nil:
		close(s.stream.replaced)
		if leave != nil {
			leave()
		}
	case leave == nil:
		return nil, false
	default:
		s.leaveStream = leave
	}
	received, err := strconv.ParseUint(lastID, 10, 64)
	if err != nil || received > s.lastEvent {
		received = s.streamBegan // the client has no event of the stream before, or does not name one
	}
	s.resendLocked(received)
	s.stream, s.streamBegan = &stream{replaced: make(chan struct{})}, s.lastEvent
	return s.stream, true
}

// resendLocked adds the changes of all events after the one with the id received.
func (s *session) resendLocked(received uint64) {
	var missed []*watch
	for _, w := range s.watches {
		if w.lastEvent > received {
			missed = append(missed, w)
		}
	}
	slices.SortFunc(missed, func(a, b *watch) int { return cmp.Compare(a.lastEvent, b.lastEvent) })
	for _, w := range missed {
		s.changes.Add(w.uri)
	}
}

// endStream ends the stream, since another client needs its place. The client may reconnect.
func (s *session) endStream() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		close(s.stream.replaced)
		s.closeStreamLocked()
	}
}

func (s *session) closeStreamLocked() {
	s.stream = nil
	s.leaveStream()
	s.leaveStream = nil
}

// detach undoes attach.
func (s *session) detach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.closeStreamLocked()
	}
	s.changes.Wake() // for the newer stream, whose token st may have taken
}

// appendOpening appends a comment, upon which proxies send the head to the client, and for clients of 2025-11-25 an event
// without data whose id they can name when they reconnect (basic/transports: sending messages to the server). Older
// clients would parse such an event as JSON.
func (s *session) appendOpening(b []byte) []byte {
	b = append(b, ": ok\n\n"...)
	if s.revision() < mcp.Revision20251125 {
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastEvent++
	b = append(b, "id: "...)
	b = strconv.AppendUint(b, s.lastEvent, 10)
	return append(b, "\ndata: \n\n"...)
}

// appendEvents takes changes, up to a full write, and appends an event for each. It reports false when st is no longer
// the session's stream.
func (s *session) appendEvents(b []byte, st *stream) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.stream != st {
		return b, false
	}
	for len(b) < maxWrite {
		uri, ok := s.changes.Take()
		if !ok {
			return b, true
		}
		s.lastEvent++
		s.watches[uri].lastEvent = s.lastEvent // changes has only URIs of watches
		b = append(b, "event: message\nid: "...)
		b = strconv.AppendUint(b, s.lastEvent, 10)
		b = append(b, "\ndata: "...)
		b = appendChange(b, uri)
		b = append(b, "\n\n"...)
	}
	s.changes.Wake()
	return b, true
}

// appendChange appends the notification that uri, or the list when it is empty, has changed.
func appendChange(b []byte, uri string) []byte {
	if uri == "" {
		return mcp.AppendNotification(b, listChanged, json.RawMessage("{}"))
	}
	params := append(appendJSON([]byte(`{"uri":`), uri), '}')
	return mcp.AppendNotification(b, resourceUpdated, params)
}

// acceptsEvents reports whether a client accepts an event stream.
func acceptsEvents(accept []string) bool {
	for _, value := range accept {
		for part := range strings.SplitSeq(value, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "*/*", "text/*", "text/event-stream":
				return true
			}
		}
	}
	return false
}
