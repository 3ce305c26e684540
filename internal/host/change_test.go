package host_test

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
)

// listen subscribes to the list of a tenant, and returns its events. The stream is open when listen returns.
func (s *served) listen(path, key string) (events <-chan string) {
	s.tb.Helper()
	return s.listenTo(path, key)
}

// listenTo is listen with resources, too.
func (s *served) listenTo(path, key string, uris ...string) (events <-chan string) {
	s.tb.Helper()
	wanted := map[string]any{"resourcesListChanged": true}
	if len(uris) > 0 {
		wanted["resourceSubscriptions"] = uris
	}
	req := s.request(path, key, "subscriptions/listen", "", map[string]any{"notifications": wanted})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { resp.Body.Close() })
	all := make(chan string, 100)
	go func() {
		defer close(all)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				all <- data
			}
		}
	}()
	if first := <-all; !strings.Contains(first, "subscriptions/acknowledged") {
		s.tb.Fatalf("got %s, want an acknowledgement", first)
	}
	return all
}

// A change of a tenant reaches its streams, which go on; streams of other tenants do not notice.
func TestAChangeReachesTheStreamsOfItsTenantAlone(t *testing.T) {
	s := serve(t, host.Config{})
	hello, everything := guesttest.File(t, "hello"), guesttest.File(t, "everything")
	b := with("b", hello)
	s.Update(snapshot(with("a", hello), b))
	ofA, ofB := s.listen("/t/a/mcp", "a"), s.listen("/t/b/mcp", "b")
	s.Update(snapshot(with("a", everything), b))
	if event := <-ofA; !strings.Contains(event, "list_changed") {
		t.Errorf("got %s, want a change of the list", event)
	}
	if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, "not_found") {
		t.Errorf("got %s from the replaced provider", text)
	}
	if _, text := s.read("/t/b/mcp", "b", "hello://about"); !strings.Contains(text, `"text"`) {
		t.Errorf("got %s, want the contents", text)
	}
	if len(ofB) > 0 {
		t.Errorf("the other tenant was told %s", <-ofB)
	}
	s.Update(snapshot(b))
	for event := range ofA { // the stream ends
		if !strings.Contains(event, "result") && !strings.Contains(event, "list_changed") {
			t.Errorf("got %s", event)
		}
	}
	if status, _ := s.read("/t/a/mcp", "a", "hello://about"); status != http.StatusNotFound {
		t.Errorf("got %d for a removed tenant, want 404", status)
	}
}

// Requests that come at once open a tenant once, and a provider that cannot be loaded is not loaded for each request.
func TestAModuleThatIsWrongIsMended(t *testing.T) {
	s := serve(t, host.Config{})
	file := filepath.Join(t.TempDir(), "hello.wasm")
	if err := os.WriteFile(file, []byte("no module"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Update(snapshot(with("a", file)))
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			if status, text := s.read("/t/a/mcp", "a", "hello://about"); status != http.StatusOK || !isUnavailable(text) || strings.Contains(text, file) {
				t.Errorf("got %d %s, want an error with the time to retry after, without the file's name", status, text)
			}
		})
	}
	clients.Wait()
	good, err := os.ReadFile(guesttest.File(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Update(snapshot(with("a", file))) // a new version is tried at once
	if status, text := s.read("/t/a/mcp", "a", "hello://about"); status != http.StatusOK {
		t.Errorf("got %d %s after the module was mended", status, text)
	}
}

// A tenant that is not used becomes cold, and is opened again; one with a stream stays open.
func TestTenantsThatAreNotUsedBecomeCold(t *testing.T) {
	s := serve(t, host.Config{Idle: 20 * time.Millisecond})
	hello := guesttest.File(t, "hello")
	s.Update(snapshot(with("a", hello), with("b", hello)))
	for _, id := range []string{"a", "b"} {
		if status, text := s.read("/t/"+id+"/mcp", id, "hello://about"); status != http.StatusOK {
			t.Fatal(status, text)
		}
	}
	_ = s.listen("/t/b/mcp", "b")
	for s.isOpen("a") {
		time.Sleep(time.Millisecond)
	}
	if !s.isOpen("b") {
		t.Error("a tenant with a stream became cold")
	}
	if status, text := s.read("/t/a/mcp", "a", "hello://about"); status != http.StatusOK {
		t.Errorf("got %d %s after the tenant was cold", status, text)
	}
}

func (s *served) isOpen(id string) bool { return s.Find(nil, []byte("/t/"+id+"/mcp")) != nil }
