package streamable_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// An openStream is a GET or listen stream that runs until its client leaves.
type openStream struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
	ended chan struct{}
}

func (o *openStream) isOpen() bool {
	select {
	case <-o.ended:
		return false
	default:
		return true
	}
}

// One limit applies to the streams of revisions with and without sessions.
func TestAllStreamsShareOneLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := streamtest.NewFront(t, streamtest.Library(), mcp.Config{MaxSubscriptions: 2}, streamable.Config{})
		var clients sync.WaitGroup
		stream := func(addr string, r *http.Request) *openStream {
			ctx, leave := context.WithCancel(t.Context())
			o := &openStream{httptest.NewRecorder(), leave, make(chan struct{})}
			r.RemoteAddr = addr
			clients.Go(func() {
				defer close(o.ended)
				h.ServeHTTP(o, r.WithContext(ctx))
			})
			synctest.Wait()
			return o
		}
		modern := func(addr string) *openStream {
			return stream(addr, streamtest.Post(streamtest.Body("7", mcp.ListenMethod, `"notifications":{"resourcesListChanged":true}`)))
		}
		session := openSession(h)
		get := func(addr, session string) *openStream {
			r := httptest.NewRequest(http.MethodGet, "http://mcp.test/mcp", nil)
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set("Mcp-Session-Id", session)
			return stream(addr, r)
		}
		const greedy, honest, other = "203.0.113.1:1", "192.0.2.1:1", "192.0.2.2:1"

		first, second := modern(greedy), modern(greedy)
		if third := modern(greedy); third.isOpen() || !strings.Contains(third.Body.String(), `"error":{"code":429,`) ||
			!strings.Contains(third.Body.String(), `"data":{"code":"busy"}`) {
			t.Errorf("a third stream of one client: got %s", third.Body)
		}
		legacy := get(honest, session)
		if !legacy.isOpen() || first.isOpen() || !second.isOpen() {
			t.Errorf("open are %v, %v, %v, want the GET stream in the place of the oldest", legacy.isOpen(), first.isOpen(), second.isOpen())
		}
		if !strings.Contains(first.Body.String(), `"resultType":"complete"`) {
			t.Errorf("the evicted stream ended without its result: %s", first.Body)
		}
		newer := get(honest, session) // it replaces the older, and has its place
		if !newer.isOpen() || legacy.isOpen() || !second.isOpen() {
			t.Error("a newer stream of the session is not in the place of the older")
		}
		refused := get(other, openSession(h))
		if refused.isOpen() || refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") == "" ||
			!strings.Contains(refused.Body.String(), `"data":{"code":"busy"}`) {
			t.Errorf("when each client has one stream: got %d %s", refused.Code, refused.Body)
		}
		newer.leave()
		synctest.Wait()
		last := get(other, openSession(h))
		if !last.isOpen() {
			t.Errorf("a stream is refused though there is a free place: %d %s", last.Code, last.Body)
		}
		second.leave()
		last.leave()
		clients.Wait()
	})
}

// openSession opens a session and waits until it is initialized.
func openSession(h http.Handler) string {
	id := streamtest.OpenSession(h)
	synctest.Wait()
	return id
}
