package host_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/host"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime"
)

// A moduleStore has modules by reference, or by digest, and notes which are taken from it and given back.
type moduleStore struct {
	files map[string]string // by the part of a reference between the last slash and the colon, or by digest

	mu     sync.Mutex
	events []string
	fail   map[string]error
	seen   chan string // gets each event, too
}

func newModules(files map[string]string) *moduleStore {
	return &moduleStore{files: files, fail: map[string]error{}, seen: make(chan string, 100)}
}

func (s *moduleStore) note(event string) {
	s.events = append(s.events, event)
	s.seen <- event
}

func (s *moduleStore) take(name string) (host.Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail[name]; err != nil {
		s.note("failed " + name)
		return host.Module{}, err
	}
	s.note("open " + name)
	return host.Module{File: s.files[name], Release: func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.note("close " + name)
	}}, nil
}

func (s *moduleStore) reference(_ context.Context, reference string) (host.Module, error) {
	_, name, _ := strings.Cut(reference, "/")
	name, _, _ = strings.Cut(name, ":")
	return s.take(name)
}

func (s *moduleStore) setFail(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail[name] = err
}

// until waits until an event comes.
func (s *moduleStore) until(event string) {
	for e := range s.seen {
		if e == event {
			return
		}
	}
}

func (s *moduleStore) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// by makes a tenant of references, whose providers are named by them.
func by(id string, names ...string) *tenant.Tenant {
	t := &tenant.Tenant{ID: id}
	for _, name := range names {
		t.Providers = append(t.Providers, tenant.Provider{Name: name, Module: "registry.example.com/" + name + ":1"})
	}
	return t
}

// A change of one provider opens that one alone. Its list is another one then; subscribers of resources of the others are
// told nothing, and lists go on where they were.
func TestProvidersThatDoNotChangeStayOpen(t *testing.T) {
	modules := newModules(map[string]string{"everything": guesttest.File(t, "everything"), "hello": guesttest.File(t, "hello")})
	s := serve(t, host.Config{Module: modules.reference})
	a := by("a", "everything", "hello")
	s.Update(snapshot(a))
	events := s.listenTo("/t/a/mcp", "a", "hello://about")
	if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, `"text"`) {
		t.Fatal(text)
	}
	pid := s.Live("a").Live
	next := by("a", "everything", "hello")
	next.Providers[0].Policy = policy.Policy{Config: map[string]string{"x": "y"}}
	s.Update(snapshot(next))
	modules.until("close everything")
	if want := []string{"open everything", "open hello", "open everything", "close everything"}; !slices.Equal(modules.log(), want) {
		t.Errorf("got %q, want %q", modules.log(), want)
	}
	if event := <-events; !strings.Contains(event, "list_changed") {
		t.Errorf("got %s, want a change of the list", event)
	}
	if got := s.Live("a").Live; got != pid {
		t.Errorf("%d processes, want %d: that of hello", got, pid)
	}
	s.Update(snapshot(by("a", "hello"))) // everything is gone
	modules.until("close everything")
	if event := <-events; !strings.Contains(event, "list_changed") {
		t.Errorf("got %s, want a change of the list", event)
	}
	s.Update(snapshot())
	modules.until("close hello")
	for event := range events { // the stream ends
		if strings.Contains(event, "resources/updated") {
			t.Errorf("told of a change of a provider that stayed: %s", event)
		}
	}
	if n := strings.Count(strings.Join(modules.log(), ","), "open hello"); n != 1 {
		t.Errorf("hello was opened %d times, want once", n)
	}
}

// While the new providers of an open tenant cannot be loaded, the old ones serve, and the new ones are tried again.
func TestProvidersThatCannotBeLoadedAreTriedAgain(t *testing.T) {
	modules := newModules(map[string]string{"everything": guesttest.File(t, "everything"), "hello": guesttest.File(t, "hello")})
	modules.setFail("everything", errors.New("no such artifact"))
	s := serve(t, host.Config{Module: modules.reference})
	s.Update(snapshot(by("a", "hello")))
	events := s.listen("/t/a/mcp", "a")
	s.Update(snapshot(by("a", "everything", "hello")))
	modules.until("failed everything")
	if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, `"text"`) {
		t.Errorf("got %s, want the contents", text)
	}
	modules.setFail("everything", nil)
	modules.until("open everything")
	if event := <-events; !strings.Contains(event, "list_changed") {
		t.Errorf("got %s, want a change of the list", event)
	}
	for name, state := range s.States("a") {
		if state.Name == "refused" {
			t.Errorf("%s is refused: %s", name, state.Reason)
		}
	}
}

// deployed makes a snapshot of one tenant whose provider notes is served by versions of it.
func deployed(route *tenant.Route, versions ...*tenant.Version) *tenant.Snapshot {
	s := snapshot(&tenant.Tenant{ID: "a", Providers: []tenant.Provider{{Name: "notes"}}})
	id := tenant.ProviderID{Tenant: "a", Provider: "notes"}
	s.Versions, s.Routes = map[tenant.ProviderID][]*tenant.Version{id: versions}, map[tenant.ProviderID]*tenant.Route{}
	if route != nil {
		s.Routes[id] = route
	}
	return s
}

// version makes a version of a module.
func version(t testing.TB, number int, file string) *tenant.Version {
	t.Helper()
	info, err := runtime.InspectFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return &tenant.Version{Tenant: "a", Provider: "notes", Number: number, Digest: info.Digest, State: tenant.StateApproved}
}

// A provider without a module is served by the active version of its route.
func TestADeployedProviderIsServedByItsActiveVersion(t *testing.T) {
	one, two := version(t, 1, guesttest.File(t, "hello")), version(t, 2, guesttest.File(t, "everything"))
	modules := newModules(map[string]string{one.Digest: guesttest.File(t, "hello"), two.Digest: guesttest.File(t, "everything")})
	s := serve(t, host.Config{Blob: modules.take})
	reads := func(when, want string) {
		t.Helper()
		if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", when, text, want)
		}
	}
	s.Update(deployed(nil))
	reads("without a route", "not_found")
	if state := s.States("a")["notes"]; state.Name != "empty" || state.Reason == "" {
		t.Errorf("got state %+v, want empty, and why", state)
	}
	events := s.listen("/t/a/mcp", "a")
	s.Update(deployed(&tenant.Route{Active: 1}, one))
	<-events
	reads("version 1", `"text"`)
	s.Update(deployed(&tenant.Route{Active: 2}, one, two))
	<-events
	reads("version 2", "not_found")
	s.Update(deployed(&tenant.Route{Active: 1, Previous: 2}, one, two))
	<-events
	reads("version 1 again", `"text"`)
	if state := s.States("a")["notes"]; state.Name != "live" || state.Processes == 0 || state.Memory <= 0 || state.LastStart.IsZero() {
		t.Errorf("got state %+v, want live, with a process that has memory and was started", state)
	}
}

// A route that is about to be stored serves, until the snapshot has it or it could not be stored.
func TestARouteServesAheadOfItsSnapshot(t *testing.T) {
	one, two := version(t, 1, guesttest.File(t, "hello")), version(t, 2, guesttest.File(t, "everything"))
	modules := newModules(map[string]string{one.Digest: guesttest.File(t, "hello"), two.Digest: guesttest.File(t, "everything")})
	s := serve(t, host.Config{Blob: modules.take})
	reads := func(when, want string) {
		t.Helper()
		if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", when, text, want)
		}
	}
	bad, good := &tenant.Route{Tenant: "a", Provider: "notes", Active: 2, Previous: 1}, &tenant.Route{Tenant: "a", Provider: "notes", Active: 1, Previous: 2}
	was := deployed(bad, one, two)
	was.Generation = 1
	s.Update(was)
	reads("the bad version", "not_found")
	events := s.listen("/t/a/mcp", "a")
	undo := s.Ahead(was, good)
	<-events
	reads("ahead of the snapshot", `"text"`)
	undo()
	<-events
	reads("after a route that was not stored", "not_found")
	s.Ahead(was, good)
	<-events
	now := deployed(good, one, two)
	now.Generation = 2
	s.Update(now)
	undo()
	reads("after a route that was stored", `"text"`)
	s.Ahead(was, bad)
	reads("after a route for an earlier snapshot", `"text"`)
}

// The version to which a rollback would return is open beside the one that serves, though no client had it before.
func TestTheVersionBeforeIsOpenForARollback(t *testing.T) {
	one, two := version(t, 1, guesttest.File(t, "hello")), version(t, 2, guesttest.File(t, "everything"))
	modules := newModules(map[string]string{one.Digest: guesttest.File(t, "hello"), two.Digest: guesttest.File(t, "everything")})
	s := serve(t, host.Config{Blob: modules.take})
	s.Update(deployed(&tenant.Route{Active: 2, Previous: 1}, one, two))
	events := s.listen("/t/a/mcp", "a") // which opens the tenant
	modules.until("open " + one.Digest)
	modules.setFail(one.Digest, errors.New("it is not to be loaded again"))
	s.Update(deployed(&tenant.Route{Active: 1, Previous: 2}, one, two))
	<-events
	if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, `"text"`) {
		t.Errorf("after the rollback: got %s", text)
	}
}

// The version before belongs to its tenant as the one that serves does: the code of both is mapped from files of that tenant.
func TestTheVersionBeforeBelongsToItsTenant(t *testing.T) {
	one, two := version(t, 1, guesttest.File(t, "hello")), version(t, 2, guesttest.File(t, "everything"))
	modules := newModules(map[string]string{one.Digest: guesttest.File(t, "hello"), two.Digest: guesttest.File(t, "everything")})
	log := new(lines)
	s := serveOn(t, host.Config{Blob: modules.take}, runtime.HostConfig{
		CacheDir: guesttest.CacheDir(t), Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	s.Update(deployed(&tenant.Route{Active: 2, Previous: 1}, one, two))
	events := s.listen("/t/a/mcp", "a")
	modules.until("open " + one.Digest)
	s.Update(deployed(&tenant.Route{Active: 1, Previous: 2}, one, two))
	<-events
	if _, text := s.read("/t/a/mcp", "a", "hello://about"); !strings.Contains(text, `"text"`) {
		t.Errorf("after the rollback: got %s", text)
	}
	if log.with("native code is copied") > 0 {
		t.Error("the worker of the version before maps no code")
	}
}

// The module of a version is held to the version's digest.
func TestABlobThatIsNotTheVersionIsRefused(t *testing.T) {
	one := version(t, 1, guesttest.File(t, "hello"))
	modules := newModules(map[string]string{one.Digest: guesttest.File(t, "everything")})
	s := serve(t, host.Config{Blob: modules.take})
	s.Update(deployed(&tenant.Route{Active: 1}, one))
	if status, text := s.read("/t/a/mcp", "a", "hello://about"); !isUnavailable(text) {
		t.Errorf("got %d %s, want an error with the time to retry after", status, text)
	}
	if state := s.States("a")["notes"]; state.Name != "refused" || !strings.Contains(state.Reason, "digest") {
		t.Errorf("got state %+v, want refused, with the digest", state)
	}
	if _, err := os.Stat(modules.files[one.Digest]); err != nil {
		t.Error(err)
	}
}
