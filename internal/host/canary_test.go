package host_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/sourcetree"
	"github.com/wasmres/wasmres/internal/tenant"
)

// versionsOf makes three versions of a provider: x:o is "fine" in the first one, crashes the second, and is "next" in the third.
func versionsOf(t testing.TB) (modules *moduleStore, versions []*tenant.Version) {
	t.Helper()
	first, err := os.ReadFile(filepath.Join(sourcetree.Root(), "testdata", "wasm", "faults.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(first, []byte("\x41\xe1\x00")) != 1 || bytes.Count(first, []byte("fine")) != 1 {
		t.Fatal("faults.wasm is not as this test has it: it compares with 'a' once, and says fine once")
	}
	modules = newModules(map[string]string{})
	for i, module := range [][]byte{
		first,
		bytes.Replace(first, []byte("\x41\xe1\x00"), []byte("\x41\xef\x00"), 1), // 'o' traps, and not 'a'
		bytes.Replace(first, []byte("fine"), []byte("next"), 1),
	} {
		file := filepath.Join(t.TempDir(), "notes.wasm")
		if err := os.WriteFile(file, module, 0o600); err != nil {
			t.Fatal(err)
		}
		v := version(t, i+1, file)
		modules.files[v.Digest] = file
		versions = append(versions, v)
	}
	return modules, versions
}

// A report is a call of CanaryFailed.
type report struct {
	id      tenant.ProviderID
	version int
	reason  string
}

// text reads x:o, and returns what is in it, or the code of the error.
func (s *served) text(key string) string {
	s.tb.Helper()
	status, text := s.read("/t/a/mcp", key, "x:o")
	for _, one := range []string{`"text":"fine"`, `"text":"next"`, `"code":"trap"`} {
		if status == http.StatusOK && strings.Contains(text, one) {
			return strings.Split(one, `"`)[3]
		}
	}
	return fmt.Sprint(status, " ", text)
}

// clientsOn returns a client that gets the stable version of a canary's share, and one that gets the canary.
func (s *served) clientsOn(canary string) (out, in string) {
	s.tb.Helper()
	for i := 0; out == "" || in == ""; i++ {
		key := fmt.Sprintf("a:%d", i)
		if s.text(key) == canary {
			in = key
		} else {
			out = key
		}
	}
	return out, in
}

// legacy opens a session of the older era that is subscribed to x:o, and returns its notifications, of the list and of x:o.
func (s *served) legacy(key string) (events <-chan string) {
	s.tb.Helper()
	session := ""
	post := func(body string) {
		s.tb.Helper()
		resp := s.session(http.MethodPost, key, session, body)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= 300 || strings.Contains(string(text), `"error"`) {
			s.tb.Fatalf("%s: got %d %s %v", body, resp.StatusCode, text, err)
		}
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
	}
	post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	post(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"x:o"}}`)
	resp := s.session(http.MethodGet, key, session, "")
	if resp.StatusCode != http.StatusOK {
		s.tb.Fatalf("stream of a session: got %s", resp.Status)
	}
	return s.events(resp)
}

// session sends a request of a session.
func (s *served) session(method, key, session, body string) *http.Response {
	s.tb.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.address+"/t/a/mcp", strings.NewReader(body))
	if err != nil {
		s.tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
		req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.tb.Fatal(err)
	}
	return resp
}

// events returns the notifications in a stream: "list", or the URI of a resource.
func (s *served) events(resp *http.Response) <-chan string {
	s.tb.Cleanup(func() { resp.Body.Close() })
	all := make(chan string, 100)
	go func() {
		defer close(all)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.Contains(line, "list_changed"):
				all <- "list"
			case strings.Contains(line, "resources/updated"):
				all <- "x:o"
			}
		}
	}()
	return all
}

// A watcher is a client of one version whose streams of both eras are open.
type watcher struct {
	key     string
	streams []<-chan string
}

func (s *served) watch(key string) *watcher {
	return &watcher{key, []<-chan string{s.notes(key), s.legacy(key)}}
}

// notes is listenTo for x:o and the list, with the notifications alone.
func (s *served) notes(key string) <-chan string {
	all := make(chan string, 100)
	events := s.listenTo("/t/a/mcp", key, "x:o")
	go func() {
		defer close(all)
		for event := range events {
			switch {
			case strings.Contains(event, "list_changed"):
				all <- "list"
			case strings.Contains(event, "resources/updated"):
				all <- "x:o"
			}
		}
	}()
	return all
}

// isTold waits until each stream was told of the list and of x:o, once each, and of nothing else before.
func (w *watcher) isTold(t *testing.T, when string) {
	t.Helper()
	for i, stream := range w.streams {
		got := []string{<-stream, <-stream}
		slices.Sort(got)
		if !slices.Equal(got, []string{"list", "x:o"}) {
			t.Errorf("%s: stream %d of %s was told %q, want the list and x:o", when, i, w.key, got)
		}
	}
}

// Clients stay on one version. Streams and sessions of both eras go on when a canary begins, is promoted and rolled back, and
// are told once whenever another version answers their client, and of nothing else.
func TestStreamsAndSessionsGoThroughAllOfARollout(t *testing.T) {
	modules, versions := versionsOf(t)
	s := serve(t, host.Config{Blob: modules.take})
	update := func(r tenant.Route) { s.Update(deployed(&r, versions...)) }
	reads := func(when, key, want string) {
		t.Helper()
		for range 3 {
			if got := s.text(key); got != want {
				t.Errorf("%s: %s reads %s, want %s", when, key, got, want)
			}
		}
	}
	update(tenant.Route{Active: 1, Canary: 3, Share: 50})
	outKey, inKey := s.clientsOn("next")
	update(tenant.Route{Active: 1})
	for s.text(inKey) != "fine" { // the swap does not wait for anything, and Update not for the swap
	}
	out, in := s.watch(outKey), s.watch(inKey)

	update(tenant.Route{Active: 1, Canary: 3, Share: 50})
	in.isTold(t, "canary")
	reads("canary", inKey, "next")
	reads("canary", outKey, "fine")
	update(tenant.Route{Active: 3, Previous: 1})
	out.isTold(t, "promoted")
	reads("promoted", inKey, "next")
	reads("promoted", outKey, "next")
	opened := len(modules.log())
	update(tenant.Route{Active: 1, Previous: 3})
	in.isTold(t, "rolled back")
	out.isTold(t, "rolled back")
	reads("rolled back", inKey, "fine")
	reads("rolled back", outKey, "fine")
	if log := modules.log(); len(log) != opened {
		t.Errorf("a rollback opened or closed modules: %q", log[opened:])
	}
	for _, w := range []*watcher{out, in} {
		for i, stream := range w.streams {
			if len(stream) > 0 {
				t.Errorf("stream %d of %s was told %s in the end", i, w.key, <-stream)
			}
		}
	}
}

// A client that may choose versions gets the one that it names, and no other client does.
func TestAVersionIsChosenByAHeader(t *testing.T) {
	modules, versions := versionsOf(t)
	s := serve(t, host.Config{Blob: modules.take})
	s.Update(deployed(&tenant.Route{Active: 1, Canary: 3}, versions...))
	for _, c := range []struct{ key, header, want string }{
		{"a!ada", "3", "next"}, {"a!ada", "1", "fine"}, {"a!ada", "2", "fine"}, {"a!ada", "", "fine"}, {"a:bob", "3", "fine"}, {"a", "", "fine"},
	} {
		req := s.request("/t/a/mcp", c.key, "resources/read", "x:o", map[string]any{"uri": "x:o"})
		if c.header != "" {
			req.Header.Set("Wasmres-Version", c.header)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s asks for %q: got %s %v, want %s", c.key, c.header, text, err, c.want)
		}
	}
}

// A version that crashes goes back by itself, while all requests are answered: by the version, with its error, or by the
// active one. It stays back whatever else changes, until another canary begins.
func TestAVersionThatCrashesGoesBackByItself(t *testing.T) {
	modules, versions := versionsOf(t)
	reports := make(chan report, 10)
	s := serve(t, host.Config{Blob: modules.take, CanaryFailed: func(id tenant.ProviderID, version int, reason string) {
		reports <- report{id, version, reason}
	}})
	id := tenant.ProviderID{Tenant: "a", Provider: "notes"}
	s.Update(deployed(&tenant.Route{Active: 1, Canary: 2, Share: 50}, versions...))
	outKey, inKey := s.clientsOn("trap")
	out, in := s.watch(outKey), s.watch(inKey)
	if state, ok := s.Rollout(id); !ok || state.Version != 2 || state.Canary.Faults == 0 || state.Active.Faults > 0 || state.Failed != "" {
		t.Errorf("got %+v, %v", state, ok)
	}
	var load sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	failed := make(chan struct{})
	for i := range 8 {
		load.Go(func() {
			for {
				select {
				case <-failed:
					return
				default:
				}
				text := s.text(fmt.Sprintf("a:%d", 1000+i))
				mu.Lock()
				got[text]++
				mu.Unlock()
			}
		})
	}
	r := <-reports
	close(failed)
	load.Wait()
	if r.id != id || r.version != 2 || !strings.Contains(r.reason, "fault") {
		t.Errorf("got %+v", r)
	}
	if got["fine"]+got["trap"] == 0 || len(got) > 2 {
		t.Errorf("got %v, want contents and errors of the version alone", got)
	}
	in.isTold(t, "taken back")
	for _, key := range []string{inKey, outKey} {
		if got := s.text(key); got != "fine" {
			t.Errorf("taken back: %s reads %s", key, got)
		}
	}
	if state, ok := s.Rollout(id); !ok || state.Version != 2 || state.Failed != r.reason {
		t.Errorf("got %+v, %v, want the reason", state, ok)
	}
	s.Update(deployed(&tenant.Route{Active: 1, Canary: 2, Share: 90}, versions...)) // the owner does not know yet
	if got := s.text(inKey); got != "fine" {
		t.Errorf("with another share: got %s", got)
	}
	s.Update(deployed(&tenant.Route{Active: 1}, versions...))
	if _, ok := s.Rollout(id); ok {
		t.Error("there is a canary after its end")
	}
	s.Update(deployed(&tenant.Route{Active: 1, Canary: 2, Share: 100}, versions...)) // once more, by hand
	in.isTold(t, "once more")
	out.isTold(t, "once more")
	if got := s.text(inKey); got != "trap" {
		t.Errorf("once more: got %s", got)
	}
	if len(reports) > 0 {
		t.Errorf("reported again: %+v", <-reports)
	}
}

// A version on trial that cannot be loaded does not disturb the active one, and goes back.
func TestAVersionThatCannotBeLoadedGoesBack(t *testing.T) {
	modules, versions := versionsOf(t)
	reports := make(chan report, 10)
	s := serve(t, host.Config{Blob: modules.take, CanaryFailed: func(id tenant.ProviderID, version int, reason string) {
		reports <- report{id, version, reason}
	}})
	modules.setFail(versions[2].Digest, errors.New("no such blob"))
	s.Update(deployed(&tenant.Route{Active: 1, Canary: 3, Share: 100}, versions...))
	if got := s.text("a"); got != "fine" {
		t.Errorf("got %s", got)
	}
	if state, ok := s.Rollout(tenant.ProviderID{Tenant: "a", Provider: "notes"}); !ok || !strings.Contains(state.Problem, "no such blob") {
		t.Errorf("got %+v, %v, want the problem", state, ok)
	}
	if r := <-reports; r.version != 3 || !strings.Contains(r.reason, "no such blob") {
		t.Errorf("got %+v", r)
	}
	if got := s.text("a"); got != "fine" {
		t.Errorf("got %s", got)
	}
}
