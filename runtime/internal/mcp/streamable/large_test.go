package streamable_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

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
