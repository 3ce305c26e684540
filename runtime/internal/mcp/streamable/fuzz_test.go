package streamable_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
)

// FuzzName compares the decoder of Mcp-Name with encoding/base64: a read is accepted if and only if the header repeats the
// URI of the body.
func FuzzName(f *testing.F) {
	f.Add("test://text", "=?base64?dGVzdDovL3RleHQ=?=")
	f.Add("test://caf\u00e9", "=?base64?dGVzdDovL2NhZsOp?=")
	f.Add("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?=")
	f.Add("test://text", "=?base64?=")
	f.Add("a\tb", "a\tb")
	h := streamtest.NewHandler(f, streamtest.Source(), streamable.Config{})
	f.Fuzz(func(t *testing.T, uri, header string) {
		quoted, _ := json.Marshal(strings.ToValidUTF8(uri, "?"))
		_ = json.Unmarshal(quoted, &uri)
		r := streamtest.Post(streamtest.Body("1", "resources/read", `"uri":`+string(quoted)))
		r.Header["Mcp-Name"] = []string{header}
		want := header == uri && !strings.ContainsFunc(header, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') })
		if inner, ok := strings.CutPrefix(header, "=?base64?"); ok && strings.HasSuffix(inner, "?=") {
			decoded, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, "?="))
			want = err == nil && string(decoded) == uri
		}
		if _, code, answer := streamtest.Do(h, r); (code != -32020) != want {
			t.Errorf("uri %q, header %q: got %s, want accepted %v", uri, header, answer, want)
		}
	})
}

// FuzzRequest sends any body with any headers.
func FuzzRequest(f *testing.F) {
	read := streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	f.Add("POST", "/mcp", read, "Mcp-Name", "test://text", "Origin", "http://mcp.test")
	f.Add("POST", "/mcp", streamtest.Body("1", "subscriptions/listen", `"notifications":{}`), "Accept", "*/*;q=0.1", "Host", "[::1")
	f.Add("POST", "/mcp", "[", "Mcp-Session-Id", "s", "Mcp-Protocol-Version", "2025-06-18")
	f.Add("GET", "/", "", "Host", "", "Origin", "null")
	l := &legacy{}
	h := streamtest.NewHandler(f, streamtest.Source(), streamable.Config{Legacy: l, AllowedHosts: []string{"mcp.test"}, AllowedOrigins: []string{"https://app.test"}})
	f.Fuzz(func(t *testing.T, method, path, body, name1, value1, name2, value2 string) {
		r := streamtest.Post(body, name1, value1, name2, value2)
		r.Method, r.URL.Path = method, path
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(ctx))
		l.requests = nil
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("got %d with %q", w.Code, w.Body)
		}
	})
}

// Requests with random changes get a JSON answer, and no status of 500 or more.
func TestMangledRequests(t *testing.T) {
	h := streamtest.NewHandler(t, streamtest.Source(), streamable.Config{})
	r := rand.New(rand.NewPCG(3, 4))
	read := streamtest.Body("1", "resources/read", `"uri":"test://text"`)
	for range 10_000 {
		text := []byte(read)
		for range 1 + r.IntN(3) {
			text[r.IntN(len(text))] = byte(r.Uint32())
		}
		request := streamtest.Post(read)
		request.Body = io.NopCloser(strings.NewReader(string(text)))
		if status, _, answer := streamtest.Do(h, request); status >= 500 || !json.Valid([]byte(answer)) && answer != "" {
			t.Fatalf("%q: got %d, %q", text, status, answer)
		}
	}
}
