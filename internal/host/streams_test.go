package host_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
)

// The streams of all tenants together are bounded, whatever their plans: each takes a descriptor for hours. One that ends makes room.
func TestStreamsOfAllTenantsAreBounded(t *testing.T) {
	s := serve(t, host.Config{MaxStreams: 3})
	s.Update(snapshot(with("a", guesttest.File(t, "hello")), with("b", guesttest.File(t, "hello"))))
	open := func(id string) (*http.Response, string) {
		t.Helper()
		r := s.request("/t/"+id+"/mcp", id, "subscriptions/listen", "", map[string]any{"notifications": map[string]any{"resourcesListChanged": true}})
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		first := make([]byte, 1024)
		n, err := answer.Body.Read(first)
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return answer, string(first[:n])
	}
	var all []*http.Response
	for i, id := range []string{"a", "b", "a"} {
		answer, text := open(id)
		if !strings.Contains(text, "acknowledged") {
			t.Fatalf("stream %d: got %s", i, text)
		}
		all = append(all, answer)
	}
	if _, text := open("b"); !strings.Contains(text, `"limit":"subscriptions"`) || !strings.Contains(text, `"of":"server"`) {
		t.Errorf("got %s", text)
	}
	all[0].Body.Close()
	for ; ; time.Sleep(50 * time.Millisecond) { // no more requests than the tenant may send
		_, text := open("b")
		if strings.Contains(text, "acknowledged") {
			break
		}
		if !strings.Contains(text, `"limit":"subscriptions"`) {
			t.Fatalf("got %s", text)
		}
	}
}
