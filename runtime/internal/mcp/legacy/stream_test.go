package legacy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNewerStreamReplacesTheOlder(t *testing.T) {
	f := newFake()
	w := connectHTTP(t, newFront(t, f), "2025-11-25")
	older := w.do(t, t.Context(), http.MethodGet, "")
	defer older.Body.Close()
	w.notify(t, initializedLine)
	subscribe(t, w, "test://watched")
	for range 3 { // newer ones, each of which replaces the one before
		w.listen(t)
	}
	ended := make(chan struct{})
	go func() {
		readEvents(older.Body, func(string) {})
		close(ended)
	}()
	within(t, "the end of the older stream", ended)
	f.change("test://watched")
	expect(t, w, updated, `{"uri":"test://watched"}`)
}

func TestStreamBeginsWithAnIDWhereClientsAcceptIt(t *testing.T) {
	for revision, want := range map[string]bool{"2025-03-26": false, "2025-06-18": false, "2025-11-25": true} {
		synctest.Test(t, func(t *testing.T) {
			b := openBubbleOf(t, revision, newFake())
			if got := b.listen(t, time.Second); strings.HasPrefix(got, ": ok\n\nid: 1\ndata: \n\n") != want {
				t.Errorf("%s: got %q, want an event of an id alone: %v", revision, got, want)
			}
			b.front.Close()
		})
	}
}

func TestEventsHaveIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		b := openBubble(t, f)
		b.serve(t.Context(), http.MethodPost, request(1, "resources/subscribe", `{"uri":"test://watched"}`))
		f.change("test://watched")
		const want = ": ok\n\nevent: message\nid: %d\n" +
			`data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://watched"}}` + "\n\n"
		for _, tt := range []struct{ lastID, want string }{
			{"", fmt.Sprintf(want, 1)},
			{"1", ": ok\n\n"},
			{"0", fmt.Sprintf(want, 2)},
			{"", fmt.Sprintf(want, 3)},  // the client got none of the stream before
			{"4", fmt.Sprintf(want, 4)}, // from here on it is of no event there was
			{"99999999999999999999", fmt.Sprintf(want, 5)},
			{"some_1", fmt.Sprintf(want, 6)},
			{"6", ": ok\n\n"},
		} {
			if got := b.resume(t, tt.lastID, time.Second); got != tt.want {
				t.Errorf("after %q: got %q, want %q", tt.lastID, got, tt.want)
			}
		}
		b.front.Close()
	})
}

func TestInvalidStreamsAreRefused(t *testing.T) {
	for _, tt := range []struct{ accept, version string }{{"application/json", ""}, {"text/event-stream", "2026-07-28"}, {"text/event-stream", "x"}} {
		w := connectHTTP(t, newFront(t, newFake()), "2025-11-25")
		r := w.request(t, t.Context(), http.MethodGet, "")
		r.Header.Set("Accept", tt.accept)
		if r.Header.Set("MCP-Protocol-Version", tt.version); tt.version == "" {
			r.Header.Del("MCP-Protocol-Version")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%+v: got %s, want 400", tt, res.Status)
		}
	}
}

var updateOf = regexp.MustCompile(`"uri":"(test://[^"]*)"`)

// A network loses the end of each stream, and the client reconnects with the last id it has. It receives each change after
// it was made.
func TestClientThatReconnectsLosesNoUpdate(t *testing.T) {
	for _, revision := range []string{"2025-03-26", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) { reconnect(t, revision) })
	}
}

func reconnect(t *testing.T, revision string) {
	f := newFake()
	b := openBubbleOf(t, revision, f)
	b.serve(t.Context(), http.MethodPost, initializedLine)
	uris := []string{"test://text", "test://empty", "test://watched", "test://other"}
	for i, uri := range uris {
		b.serve(t.Context(), http.MethodPost, request(i, "resources/subscribe", `{"uri":`+quote(uri)+`}`))
	}
	random := rand.New(rand.NewPCG(1, 2))
	stale := make(map[string]bool) // changes that the client has not received
	id := ""
	hear := func(d time.Duration, cut bool, change ...string) {
		go func() {
			for _, uri := range change {
				<-time.After(time.Duration(random.IntN(50)) * time.Millisecond)
				f.change(uri)
			}
		}()
		stream := b.resume(t, id, d)
		events := strings.SplitAfter(stream, "\n\n")
		if cut {
			events = events[:random.IntN(len(events)+1)]
		}
		for _, uri := range change {
			stale[uri] = true
		}
		for _, event := range events {
			if m := updateOf.FindStringSubmatch(event); m != nil {
				delete(stale, m[1])
			}
			if got := lastID(event); got != "" {
				id = got
			}
		}
	}
	for range 500 {
		change := make([]string, random.IntN(4))
		for i := range change {
			change[i] = uris[random.IntN(len(uris))]
		}
		hear(time.Second, true, change...)
		after(0)
	}
	hear(time.Second, false)
	if len(stale) > 0 {
		t.Errorf("%s: the client has not received %v", revision, stale)
	}
	b.front.Close()
}

// A stream whose client does not read delays neither the session nor the stream that replaces it.
func TestABlockedStreamIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		b := openBubble(t, f)
		b.serve(t.Context(), http.MethodPost, request(1, "resources/subscribe", `{"uri":"test://watched"}`))
		ctx, cancel := context.WithCancel(t.Context())
		stuck := &stuckWriter{header: make(http.Header), free: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set("Mcp-Session-Id", b.session)
			b.front.ServeHTTP(stuck, r)
		}()
		synctest.Wait()
		f.change("test://watched")
		if got := strings.Count(b.listen(t, time.Second), updated); got != 1 {
			t.Errorf("the newer stream sends %d updates, want 1", got)
		}
		close(stuck.free)
		<-done
		cancel()
		b.front.Close()
	})
}

// A stuckWriter blocks until it is released.
type stuckWriter struct {
	header http.Header
	free   chan struct{}
}

func (w *stuckWriter) Header() http.Header { return w.header }
func (w *stuckWriter) WriteHeader(int)     {}
func (w *stuckWriter) Flush()              {}
func (w *stuckWriter) Write(p []byte) (int, error) {
	<-w.free
	return len(p), nil
}
