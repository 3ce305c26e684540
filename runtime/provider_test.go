package runtime_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A closer is a capability that counts how often it is closed.
type closer struct{ closed atomic.Int32 }

// Services implements [capability.Capability].
func (*closer) Services() capability.Services { return nil }

// Close implements [capability.Capability].
func (c *closer) Close() error {
	c.closed.Add(1)
	return nil
}

func TestCapabilitiesAreClosedWithTheProvider(t *testing.T) {
	h := newHost(t, runtime.IsolateNone)
	for name, open := range map[string]func(o *runtime.Options) error{
		"opened and closed": func(o *runtime.Options) error {
			p, err := h.Load(t.Context(), greeting, o)
			if err != nil {
				return err
			}
			return errors.Join(p.Close(), p.Close())
		},
		"no module": func(o *runtime.Options) error { _, err := h.Load(t.Context(), []byte("no"), o); return err },
		"no file":   func(o *runtime.Options) error { _, err := h.Open(t.Context(), "testdata/missing.wasm", o); return err },
		"another digest": func(o *runtime.Options) error {
			o.Digest = "sha256:0"
			_, err := h.Load(t.Context(), greeting, o)
			return err
		},
		"too little room": func(o *runtime.Options) error {
			o.Limits.Memory = 1
			_, err := h.Load(t.Context(), greeting, o)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c closer
			err := open(&runtime.Options{Capabilities: []capability.Capability{&c}})
			if (err == nil) != (name == "opened and closed") {
				t.Errorf("got %v", err)
			}
			if n := c.closed.Load(); n != 1 {
				t.Errorf("closed %d times, want once", n)
			}
		})
	}
}

func TestOfTwoServicesTheLaterCounts(t *testing.T) {
	value := func(text string) capability.Capability {
		return capability.Services{abi.ServiceConfig: capability.Config{"key": text}}
	}
	var asked []abi.Service
	p := load(t, greeting, &runtime.Options{
		Values: map[string]string{"key": "first"}, Capabilities: []capability.Capability{value("second"), value("third")},
		OnUngranted: func(_ context.Context, id abi.Service, _ []byte) { asked = append(asked, id) },
	})
	if _, err := p.Read(t.Context(), "note://a"); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("got %v", err)
	}
	if len(asked) != 1 {
		t.Errorf("told of %v, want one service that is not granted", asked)
	}
}

func TestAHostIsClosedAfterItsProviders(t *testing.T) {
	h, err := runtime.NewHost(runtime.HostConfig{Isolation: runtime.IsolateNone})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Load(t.Context(), greeting, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err == nil {
		t.Error("closed below an open provider")
	}
	if _, err := p.Read(t.Context(), "greeting://Ada"); err != nil {
		t.Errorf("after that: %v", err)
	}
	if err := errors.Join(p.Close(), h.Close(), h.Close()); err != nil {
		t.Error(err)
	}
	if _, err := p.Read(t.Context(), "greeting://Ada"); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("read after Close: got %v", err)
	}
	if _, err := h.Load(t.Context(), greeting, nil); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("load after Close: got %v", err)
	}
}

func TestACacheFolderOthersCanWriteToIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.NewHost(runtime.HostConfig{CacheDir: filepath.Join(file, "cache")}); err == nil {
		t.Error("opened")
	}
}

func TestSubscribe(t *testing.T) {
	p := load(t, greeting, nil)
	for change, err := range p.Subscribe(t.Context(), "no URI") {
		if abi.CodeOf(err) != abi.CodeInvalidParams {
			t.Fatalf("got %v, %v", change, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for change, err := range p.Subscribe(ctx) {
		t.Errorf("after the end of the context: got %v, %v", change, err)
	}
}

func TestCloseEndsSubscriptionsAndHandlers(t *testing.T) {
	h := newHost(t, runtime.IsolateNone)
	p, err := h.Load(t.Context(), greeting, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for _, err := range p.Subscribe(context.Background(), "greeting://Ada") {
			ended <- err
		}
	}()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("the subscription ended with %v", err)
	}
	response := httptest.NewRecorder()
	p.Handler().ServeHTTP(response, httptest.NewRequest("POST", "/mcp", nil))
	if response.Code != http.StatusServiceUnavailable {
		t.Errorf("the handler answered %d", response.Code)
	}
}

func TestListEndsWithTheError(t *testing.T) {
	p := load(t, greeting, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for _, err := range p.List(ctx) {
		if n++; n > 2 || err == nil && n == 2 {
			t.Fatal("it goes on")
		}
	}
}

func TestAHandlerIsMountedAnywhere(t *testing.T) {
	p := load(t, greeting, nil)
	mux := http.NewServeMux()
	mux.Handle("/tenants/one/", p.Handler())
	server := httptest.NewServer(mux)
	defer server.Close()
	response, err := http.Get(server.URL + "/tenants/one/?uri=greeting://Ada")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "Hello, Ada!" {
		t.Errorf("got %d %q, %v", response.StatusCode, body, err)
	}
}

func TestWithoutMain(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), noMain+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), runtime.ErrNoMain.Error()) || !strings.HasSuffix(string(out), "Hello, Ada!\n") {
		t.Errorf("got %q, %v; want the error, then a provider in this process", out, err)
	}
}

func TestReplace(t *testing.T) {
	h := newHost(t, runtime.IsolateNone)
	var first, second closer
	open := func(c *closer) *runtime.Provider {
		p, err := h.Load(t.Context(), greeting, &runtime.Options{Capabilities: []capability.Capability{c}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	r := runtime.NewReplaceable("none", "not yet", nil)
	for _, c := range []*closer{&first, &second} {
		if err := r.Replace(open(c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil || first.closed.Load() != 1 || second.closed.Load() != 1 {
		t.Errorf("closed %d and %d times, %v", first.closed.Load(), second.closed.Load(), err)
	}
	late := open(new(closer))
	if err := r.Replace(late); abi.CodeOf(err) != abi.CodeUnavailable {
		t.Errorf("replaced after Close: got %v", err)
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
}

func TestCombineRefuses(t *testing.T) {
	h := newHost(t, runtime.IsolateNone)
	var members []*runtime.Provider
	for _, name := range []string{"a", "b"} {
		p, err := h.Load(t.Context(), greeting, &runtime.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		members = append(members, p)
	}
	for want, members := range map[string][]*runtime.Provider{
		"no provider": nil, `called "a"`: {members[0], members[0]}, "a and b both claim": members,
	} {
		if _, err := runtime.Combine(members...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Permissions that are for some providers only hold when the provider can be replaced.
func TestAReplaceableKnowsToWhomAURIBelongs(t *testing.T) {
	h := newHost(t, runtime.IsolateNone)
	p, err := h.Load(t.Context(), greeting, &runtime.Options{Name: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	r := runtime.NewReplaceable("none", "not yet", nil)
	defer r.Close()
	source := r.Source()
	if owner, ok := resource.OwnerOf(source, abi.MustParseURI("greeting://Ada")); ok {
		t.Errorf("without a provider: got the owner %s", owner)
	}
	if err := r.Replace(p); err != nil {
		t.Fatal(err)
	}
	owner, ok := resource.OwnerOf(source, abi.MustParseURI("greeting://Ada"))
	ofTemplate, okTemplate := resource.TemplateOwnerOf(source, "greeting://{name}")
	if owner != "hi" || !ok || ofTemplate != "hi" || !okTemplate {
		t.Errorf("got %q, %v and %q, %v, want the provider", owner, ok, ofTemplate, okTemplate)
	}
}
