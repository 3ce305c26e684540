package legacy_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/legacy"
)

// unrest changes each resource again and again until it is stopped.
func unrest(f *fake) (stop func()) {
	enough := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for {
			select {
			case <-enough:
				return
			default:
				f.change("test://watched")
				f.change("")
			}
		}
	})
	return func() {
		close(enough)
		changing.Wait()
	}
}

// In these tests many clients subscribe, read, cancel and leave while resources change.

func TestHammerStdio(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends thousands of requests")
	}
	f := newFake()
	front := newFront(t, f)
	stop := unrest(f)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 20 {
				hammerLines(t, front)
			}
		})
	}
	clients.Wait()
	stop()
	eventually(t, "nothing is watched", func() bool { return f.watching() == 0 })
}

func hammerLines(t *testing.T, front *legacy.Front) {
	s, err := front.Connect(t.Context(), func([]byte) error { return nil })
	if err != nil {
		t.Error(err)
		return
	}
	for _, line := range []string{
		initializeLine("2025-03-26"), initializedLine,
		request(1, "resources/subscribe", `{"uri":"test://watched"}`),
		request(2, "resources/subscribe", `{"uri":"test://watched"}`),
		request(3, "resources/unsubscribe", `{"uri":"test://watched"}`),
		read(4, "test://slow"),
		"[" + read(5, "test://slow") + "," + read(6, "test://text") + "]",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`,
	} {
		if err := s.Receive([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	s.Close()
}

// The front is closed meanwhile, and must leave no goroutine and no subscription.
func TestHammerHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends thousands of requests")
	}
	f := newFake()
	front := newFront(t, f)
	stop := unrest(f)
	var clients sync.WaitGroup
	half := make(chan struct{}, 1000)
	for range 8 {
		clients.Go(func() {
			for range 20 {
				hammerRequests(front)
				half <- struct{}{}
			}
		})
	}
	for range 80 {
		within(t, "a client", half)
	}
	front.Close()
	clients.Wait()
	stop()
	eventually(t, "nothing is watched", func() bool { return f.watching() == 0 })
}

func hammerRequests(front *legacy.Front) {
	session := ""
	do := func(method, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		front.ServeHTTP(w, r)
		return w
	}
	session = do(http.MethodPost, initializeLine("2025-06-18")).Header().Get("Mcp-Session-Id")
	if session == "" {
		return
	}
	var stream sync.WaitGroup
	stream.Go(func() { do(http.MethodGet, "") })
	do(http.MethodPost, initializedLine)
	do(http.MethodPost, request(1, "resources/subscribe", `{"uri":"test://watched"}`))
	do(http.MethodPost, read(2, "test://text"))
	do(http.MethodDelete, "")
	stream.Wait()
}
