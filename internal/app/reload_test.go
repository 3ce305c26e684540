package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// An audience records the requests that it receives.
type audience struct {
	mu       sync.Mutex // guards the field below
	requests []Request
}

func (o *audience) observe(r Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r)
}

// take returns what each request since the last time was about, and how it ended: with an asterisk if it took fuel.
func (o *audience) take() (list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.requests {
		text := strings.TrimSpace(r.Op+" "+r.URI) + " " + abi.CodeOf(r.Err).String()
		if r.Fuel > 0 {
			text += "*"
		}
		list = append(list, text)
	}
	o.requests = nil
	return list
}

func TestAProviderIsReplaced(t *testing.T) {
	var told audience
	a, err := OpenReload(ReloadConfig{
		Config: namedConfig(t, "notes", "of no effect"), Empty: "look at the terminal", Observe: told.observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ask := func(method, uri, want string) {
		t.Helper()
		got, err := a.Call(t.Context(), method, map[string]string{"uri": uri})
		if err != nil {
			got = json.RawMessage(err.Error())
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("%s %s: got %.300s, want %q", method, uri, got, want)
		}
	}
	replace := func(file, want string) {
		t.Helper()
		err := a.Replace(t.Context(), file)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}

	ask("resources/read", "greeting://Ada", "look at the terminal")
	if got := identityOf(a); got != (resource.Identity{Name: "notes", Version: "0"}) {
		t.Errorf("with nothing: got %+v", got)
	}
	text := filepath.Join(t.TempDir(), "text.wasm")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace(text, "not a WebAssembly module")
	ask("resources/read", "greeting://Ada", "look at the terminal")

	replace(guesttest.File(t, "hello"), "")
	hello := identityOf(a)
	if hello.Name != "hello" {
		t.Errorf("got %+v, want what the first provider says", hello)
	}
	ask("resources/read", "greeting://Ada", "Ada")
	replace(text, "not a WebAssembly module")
	ask("resources/read", "greeting://Ada", "Ada")
	ask("resources/list", "", "hello://about")
	ask("resources/list", "", "hello://about")

	replace(guesttest.File(t, "everything"), "")
	ask("resources/read", "test://static-text", "static text")
	ask("resources/templates/list", "", "test://")
	ask("resources/list", "", "test://static-text")
	if got := identityOf(a); got != hello {
		t.Errorf("got %+v, want what the first provider said", got)
	}
	want := []string{
		"read greeting://Ada unavailable", "read greeting://Ada unavailable", "read greeting://Ada ok*",
		"read greeting://Ada ok*", "list ok", "list ok",
		"read test://static-text ok*", "templates ok", "list ok*",
	}
	if diff := cmp.Diff(want, told.take()); diff != "" {
		t.Errorf("requests: want -, got +:\n%s", diff)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	err = a.Replace(t.Context(), guesttest.File(t, "hello"))
	if abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("replaced after Close: got %v", err)
	}
}
