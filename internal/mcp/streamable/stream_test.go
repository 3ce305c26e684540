package streamable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/mcp/streamable"
	"github.com/wasmres/wasmres/internal/mcp/streamable/streamtest"
)

func TestSilentStreamStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		r := streamtest.Post(streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)).WithContext(ctx)
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

func TestLargeAnswersOnOneConnection(t *testing.T) {
	s := streamtest.Source()
	blob := make([]byte, 2<<20)
	s.Blob("test://large", blob)
	server := httptest.NewServer(streamtest.NewHandler(t, s, streamable.Config{}))
	defer server.Close()
	for range 3 {
		response := streamtest.Send(t.Context(), t, server.URL, streamtest.Body("1", "resources/read", `"uri":"test://large"`))
		var got struct {
			Result struct{ Contents []struct{ Blob []byte } }
		}
		err := json.NewDecoder(response.Body).Decode(&got)
		if err != nil || len(got.Result.Contents) != 1 || !bytes.Equal(got.Result.Contents[0].Blob, blob) || response.ContentLength < 2<<20 {
			t.Fatalf("got %v, %d bytes", err, response.ContentLength)
		}
		response.Body.Close()
	}
}
