package streamable_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/mcp/streamable"
)

func TestSilentStreamStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, source(), streamable.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		r := post(body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)).WithContext(ctx)
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.ServeHTTP(w, r)
		}()
		time.Sleep(46 * time.Second)
		cancel()
		<-done
		comments := 0
		for line := range strings.Lines(w.Body.String()) {
			if strings.HasPrefix(line, ":") {
				comments++
			}
		}
		if comments != 3 || !w.Flushed {
			t.Errorf("got %d comments in 46 s, flushed %v, want 3", comments, w.Flushed)
		}
	})
}
