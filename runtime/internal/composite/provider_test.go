package composite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/pool"
	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/composite"
	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/resource"
)

// openProvider loads an example. The end of the test closes it.
func openProvider(t *testing.T, example string, pageSize int) *provider.Provider {
	t.Helper()
	e, err := wazero.Open(wazero.Config{CacheDir: guesttest.CacheDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := provider.Open(t.Context(), provider.Config{
		Runner: pool.InProcess{Engine: e}, Limits: limits.Limits{Timeout: 20 * time.Second}, ModuleCache: guesttest.Modules,
		PageSize: pageSize,
	}, guesttest.Binary(t, example))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// openProviders composes examples.
func openProviders(t *testing.T, cfg composite.Config, examples ...string) (*composite.Source, []*provider.Provider) {
	t.Helper()
	var opened []*provider.Provider
	for _, example := range examples {
		p := openProvider(t, example, cfg.PageSize)
		cfg.Members = append(cfg.Members, composite.Member{Name: example, Source: p, Claims: composite.ClaimsOf(p.Manifest())})
		opened = append(opened, p)
	}
	cfg.MemberTimeout = 20 * time.Second
	return compose(t, cfg), opened
}

func TestProvidersAreListedAsTheyAre(t *testing.T) {
	for _, pageSize := range []int{1000, 7} {
		t.Run(fmt.Sprint(pageSize), func(t *testing.T) {
			s, opened := openProviders(t, composite.Config{PageSize: pageSize}, "hello", "everything")
			most := 200 // of what everything lists, in pages of few
			if pageSize == 1000 {
				most = 1 << 20
			}
			var want []string
			for _, p := range opened {
				want = append(want, some(t, p.List, most)...)
			}
			got := some(t, s.List, min(most, len(want)))
			if !slices.Equal(got, want[:len(got)]) || len(got) < most && len(got) < len(want) {
				t.Errorf("got %d entries, want the %d of both, in order", len(got), len(want))
			}
		})
	}
}

// some lists the first entries.
func some(t *testing.T, list lister, most int) (uris []string) {
	t.Helper()
	req := &resource.Request{}
	for len(uris) < most {
		page, err := list(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Resources {
			uris = append(uris, r.URI)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	return uris[:min(most, len(uris))]
}

func TestChangesOfProvidersArrive(t *testing.T) {
	s, _ := openProviders(t, composite.Config{}, "hello", "everything")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changed := make(chan string, 16)
	uris := []string{"test://watched-resource", "greeting://Ada"}
	if got, err := s.Subscribe(ctx, parse(uris...), true, resource.NotifierFunc(func(uri string) { changed <- uri })); err != nil || !slices.Equal(texts(got), uris) {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, action := range []string{"touch", "list-changed"} {
		if _, err := read(t.Context(), s, "test://action/"+action); err != nil {
			t.Fatal(err)
		}
		s.AfterResponse()
	}
	got := []string{<-changed, <-changed}
	slices.Sort(got)
	if !slices.Equal(got, []string{"", "test://watched-resource"}) {
		t.Errorf("got %q", got)
	}
}

// TestAServerOfSeveral asks a whole server, then one of whose providers is gone.
func TestAServerOfSeveral(t *testing.T) {
	s, opened := openProviders(t, composite.Config{PageSize: 1000}, "hello", "everything")
	core, err := mcp.New(mcp.Config{Source: s, Name: "wasmres", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	const about = `"resources":[{"uri":"hello://about","name":"about","description":"What this provider does.","mimeType":"text/markdown"}`
	for _, step := range []struct {
		method, params string
		want           string // in the result or the error
	}{
		{"resources/list", `{}`, `{` + about + `,{"uri":"test://static-text",`},
		{"resources/templates/list", `{}`, `{"resourceTemplates":[{"uriTemplate":"greeting://{name}",`},
		{"resources/read", `{"uri":"greeting://Ada"}`, `"text":"Hello, Ada!"`},
		{"resources/read", `{"uri":"test://static-text"}`, `This is the content of the static text resource.`},
		{"resources/read", `{"uri":"test://nope"}`, `there is no test://nope`},
		{"resources/read", `{"uri":"nobody://here"}`, `Resource not found {"code":"not_found","uri":"nobody://here"}`},
		{"completion/complete", completing("greeting://{name}", "name"), `["Ada","Alan"]`},
		{"completion/complete", completing("nobody://{x}", "x"), `no resource template "nobody://{x}"`},
		{"resources/list", `{"cursor":"forged"}`, `invalid cursor`},
		{"", "", ""}, // from here on everything is gone
		{"resources/read", `{"uri":"test://static-text"}`, `"code":"unavailable"`},
		{"resources/read", `{"uri":"greeting://Ada"}`, `"text":"Hello, Ada!"`},
		{"resources/list", `{}`, `{"_meta":{"io.github.wasmres/degraded":[{"provider":"everything","code":"unavailable"}]},` + about + `]}`},
	} {
		if step.method == "" {
			if err := opened[1].Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		call := &mcp.Call{Method: step.method, Params: json.RawMessage(step.params), Revision: mcp.Revision20251125}
		result, failed := core.Call(t.Context(), call)
		core.AfterResponse()
		got := string(result)
		if failed != nil {
			got = failed.Message + " " + string(failed.Data)
		}
		if !strings.Contains(got, step.want) {
			t.Errorf("%s %s: got %.300s, want %s", step.method, step.params, got, step.want)
		}
	}
}

// completing asks for values that begin with A.
func completing(template, variable string) string {
	return fmt.Sprintf(`{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":%q,"value":"A"}}`, template, variable)
}
