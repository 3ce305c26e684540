package legacy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

func TestSessionsAreBounded(t *testing.T) {
	front := newFront(t, newFake(), func(c *legacy.Config) { c.MaxSessions = 1 })
	first := dialHTTP(t, front, "2025-06-18") // it listens, so it is in use
	second := &httpWire{url: first.url}
	res, _ := second.post(t, initializeLine("2025-06-18"))
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("got %s, want 503", res.Status)
	}
	first.do(t, t.Context(), http.MethodDelete, "").Body.Close()
	eventually(t, "there is room", func() bool {
		res, _ := second.post(t, initializeLine("2025-06-18"))
		return res.StatusCode == http.StatusOK
	})
}

func TestSessionIsRequired(t *testing.T) {
	w := dialHTTP(t, newFront(t, newFake()), "2025-06-18")
	session := w.session
	for _, c := range []struct {
		name, session, line string
		status, code        int
	}{
		{"none", "", read(1, "test://text"), http.StatusBadRequest, -32600},
		{"none, notification", "", initializedLine, http.StatusBadRequest, -32600},
		{"none, batch", "", "[" + initializeLine("2025-03-26") + "]", http.StatusBadRequest, -32600},
		{"none, nonsense", "", `{`, http.StatusBadRequest, -32700},
		{"unknown", "unknown", read(1, "test://text"), http.StatusNotFound, 0},
		{"unknown, for an unknown method", "unknown", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.StatusNotFound, 0},
		{"unknown, nonsense", "unknown", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":7}`, http.StatusNotFound, 0},
		{"one", session, read(1, "test://text"), http.StatusOK, 0},
	} {
		w.session = c.session
		res, all := w.post(t, c.line)
		got := 0
		if len(all) > 0 {
			got = code(all[0])
		}
		if res.StatusCode != c.status || got != c.code {
			t.Errorf("%s: got %s, code %d, want %d, %d", c.name, res.Status, got, c.status, c.code)
		}
	}
}

func TestUnknownNotificationIsIgnored(t *testing.T) {
	w := dialHTTP(t, newFront(t, newFake()), "2025-06-18")
	w.notify(t, `{"jsonrpc":"2.0","method":"notifications/no/such"}`)
	w.notify(t, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
}

func TestDeleteCancelsRequests(t *testing.T) {
	f := newFake()
	w := dialHTTP(t, newFront(t, f), "2025-06-18")
	r := w.request(t, t.Context(), http.MethodPost, read(1, "test://slow"))
	go func() {
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
		}
	}()
	within(t, "the read", f.started)
	w.do(t, t.Context(), http.MethodDelete, "").Body.Close()
	if cause := within(t, "the end of the read", f.stopped); !strings.Contains(cause.Error(), "session has ended") {
		t.Errorf("got cause %v", cause)
	}
}

func TestBodyIsBounded(t *testing.T) {
	w := dialHTTP(t, newFront(t, newFake(), func(c *legacy.Config) { c.MaxBody = 1000 }), "2025-06-18")
	res, _ := w.post(t, read(1, "test://"+strings.Repeat("a", 1000)))
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %s, want 413", res.Status)
	}
}

// A bubble is a client without a network, for tests in a synctest bubble.
type bubble struct {
	front   *legacy.Front
	session string
	lastID  string // of the GET stream before; empty for none
}

func openBubble(t *testing.T, f *fake, change ...func(*legacy.Config)) *bubble {
	return openBubbleOf(t, "2025-06-18", f, change...)
}

func openBubbleOf(t *testing.T, revision string, f *fake, change ...func(*legacy.Config)) *bubble {
	b := &bubble{front: newFront(t, f, change...)}
	b.session = b.serve(t.Context(), http.MethodPost, initializeLine(revision)).Header().Get("Mcp-Session-Id")
	return b
}

func (b *bubble) serve(ctx context.Context, method, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if b.session != "" {
		r.Header.Set("Mcp-Session-Id", b.session)
	}
	if b.lastID != "" && method == http.MethodGet {
		r.Header.Set("Last-Event-ID", b.lastID)
	}
	w := httptest.NewRecorder()
	b.front.ServeHTTP(w, r)
	synctest.Wait()
	return w
}

// listen returns what a GET stream sends in that time.
func (b *bubble) listen(t *testing.T, d time.Duration) string {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return b.serve(ctx, http.MethodGet, "").Body.String()
}

// resume returns what a GET stream sends in that time to a client whose last event has that id; empty for none.
func (b *bubble) resume(t *testing.T, lastID string, d time.Duration) string {
	b.lastID = lastID
	defer func() { b.lastID = "" }()
	return b.listen(t, d)
}

// lastID returns the id of the last event of a stream; empty when it has none.
func lastID(stream string) (id string) {
	for line := range strings.Lines(stream) {
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(value)
		}
	}
	return id
}

func (b *bubble) ping(t *testing.T) int {
	return b.serve(t.Context(), http.MethodPost, request(1, "ping", "")).Code
}

// after sleeps in the bubble.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestIdleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		b := openBubble(t, f)
		b.serve(t.Context(), http.MethodPost, initializedLine)

		// A session with a stream is not idle, however long it sends no request.
		stream := b.listen(t, 5*time.Hour)
		if beats := strings.Count(stream, ": alive\n\n"); beats < 5*60*4-1 {
			t.Errorf("got %d comments in five hours, want one each 15 s", beats)
		}
		after(29 * time.Minute)
		if got := b.ping(t); got != http.StatusOK || f.watching() != 1 {
			t.Errorf("after 29 minutes: got %d, %d watches", got, f.watching())
		}
		after(31 * time.Minute)
		if got := b.ping(t); got != http.StatusNotFound || f.watching() != 0 {
			t.Errorf("after 31 minutes: got %d, %d watches", got, f.watching())
		}
		b.front.Close()
	})
}

func TestSessionThatIsNeverUsedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBubble(t, newFake())
		after(31 * time.Minute)
		if got := b.ping(t); got != http.StatusNotFound {
			t.Errorf("got %d, want 404", got)
		}
		b.front.Close()
	})
}

func TestChangesWaitForAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		b := openBubble(t, f)
		b.serve(t.Context(), http.MethodPost, request(1, "resources/subscribe", `{"uri":"test://watched"}`))
		for range 3 {
			f.change("test://watched")
			after(time.Second)
		}
		stream := b.listen(t, time.Second)
		if got := strings.Count(stream, updated); got != 1 {
			t.Errorf("the first stream sends %d updates, want 1", got)
		}
		if got := strings.Count(b.resume(t, lastID(stream), time.Second), updated); got != 0 {
			t.Errorf("the second stream sends %d updates, want none", got)
		}
		b.front.Close()
	})
}

func TestRestlessSourceDoesNotFloodTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		b := openBubble(t, f)
		b.serve(t.Context(), http.MethodPost, initializedLine)
		go func() {
			for range 1000 {
				f.change("")
				<-time.After(time.Millisecond)
			}
		}()
		if got := strings.Count(b.listen(t, 2*time.Second), listChanged); got < 50 || got > 110 {
			t.Errorf("got %d notifications in a second, want about 100", got)
		}
		b.front.Close()
	})
}

func TestEachSessionHasANameOfItsOwnUntilItEnds(t *testing.T) {
	f := newFake()
	front := newFront(t, f)
	names := map[string]bool{"": true}
	for range 3 {
		w := dialHTTP(t, front, "2025-11-25")
		for id := range 2 {
			last(t, w, request(id+10, "resources/read", `{"uri":"test://text"}`))
		}
		first, second := within(t, "call", f.calls), within(t, "call", f.calls)
		if first.Session != second.Session || names[first.Session] {
			t.Errorf("got %q and %q, want one name, which no other session has", first.Session, second.Session)
		}
		names[first.Session] = true
		w.do(t, t.Context(), http.MethodDelete, "")
		if got := within(t, "end", f.ended); got != first.Session {
			t.Errorf("got the end of %q, want %q", got, first.Session)
		}
	}
}
