package legacy

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
)

const (
	versionHeader     = "Mcp-Protocol-Version"
	lastEventIDHeader = "Last-Event-Id"

	// heartbeat is how often something is written to a GET stream.
	heartbeat = 15 * time.Second
	// fullWrite is how many bytes of events one write has, about.
	fullWrite = 16 << 10
)

// A stream is the GET stream of a session, which tells the client what changed. A session has one: a newer stream
// replaces the older, which may be that of a connection the client lost long ago.
//
// Events are numbered through the whole session, and their numbers are their ids. A session keeps no events: it knows of
// each subscription in which event the client was told of it last, and marks as changed again what the client may not
// have heard of when it comes back. So a client loses no change, however many there were, and several changes of one
// resource are one event.
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
	case failure != nil: // not 5xx, after which some clients give up the session
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
	header.Set("X-Accel-Buffering", "no") // or nginx would keep it all to itself
	s.runStream(w, r, st)
}

// runStream writes the events of st.
func (s *session) runStream(w *response, r *http.Request, st *stream) {
	if w.send(s.appendOpening(nil)) != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		out, ok := s.appendEvents(nil, st)
		if !ok {
			return
		}
		var pause <-chan time.Time // so that a restless source does not flood the client
		wake := s.changes.C
		if len(out) > 0 {
			if w.send(out) != nil {
				return
			}
			pause, wake = time.After(breath), nil
		}
		select {
		case <-r.Context().Done():
			return
		case <-st.replaced:
			return
		case <-s.ctx.Done():
			return
		case <-pause:
		case <-wake:
		case <-beat.C:
			if w.send([]byte(": alive\n\n")) != nil { // so that no proxy takes the stream for dead
				return
			}
		}
	}
}

// open makes a stream of a GET the session's. There is none, nor a failure, when the session has ended.
func (s *session) open(r *http.Request) (*stream, *mcp.Error) {
	lastID, client := r.Header.Get(lastEventIDHeader), mcp.ClientOf(r.RemoteAddr)
	if st, ok := s.attach(lastID, nil); ok {
		return st, nil
	}
	leave, failure := s.front.cfg.Core.OpenStream(r.Context(), client, s.endStream)
	if failure != nil {
		return nil, failure
	}
	st, _ := s.attach(lastID, leave)
	return st, nil
}

// attach makes a new stream the session's, which is nil when the session has ended. lastID is the id of the last event
// that the client got, or empty. leave gives the place of the stream back; the stream has the place of an older one
// when there is one. It reports false when neither is there.
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
	heard, err := strconv.ParseUint(lastID, 10, 64)
	if err != nil || heard > s.lastEvent {
		heard = s.streamBegan // the client got no event of the stream before, or does not say
	}
	s.retellLocked(heard)
	s.stream, s.streamBegan = &stream{replaced: make(chan struct{})}, s.lastEvent
	return s.stream, true
}

// retellLocked has the client told again of what an event after the one heard told it of.
func (s *session) retellLocked(heard uint64) {
	var missed []*watch
	for _, w := range s.watches {
		if w.told > heard {
			missed = append(missed, w)
		}
	}
	slices.SortFunc(missed, func(a, b *watch) int { return cmp.Compare(a.told, b.told) })
	for _, w := range missed {
		s.changes.Add(w.uri)
	}
}

// endStream ends the stream: another client needs its place. The client may come back.
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

// detach ends what attach began.
func (s *session) detach(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.closeStreamLocked()
	}
	s.changes.Wake() // the newer stream, if st has taken its token
}

// appendOpening appends what makes proxies pass the head on and, where clients take it, an event of no data whose id the
// client can come back with (2025-11-25, basic/transports: sending messages to the server). Older clients take an empty
// event for a message that is not JSON.
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

// appendEvents takes the changes, or some of many, and appends an event for each. It reports false when st is no longer
// the session's stream.
func (s *session) appendEvents(b []byte, st *stream) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.stream != st {
		return b, false
	}
	for len(b) < fullWrite {
		uri, ok := s.changes.Take()
		if !ok {
			return b, true
		}
		s.lastEvent++
		s.watches[uri].told = s.lastEvent // changes are of watches
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

// acceptsEvents reports whether a client takes an event stream.
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
