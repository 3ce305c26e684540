package runtime_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/internal/hostile"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A told is what the _meta of a result says of the code that has answered.
type told struct {
	Provider  map[string]string   `json:"dev.wasmres/provider"`
	Providers []map[string]string `json:"dev.wasmres/providers"`
}

// askNew asks in the newest revision, over HTTP.
func askNew(t *testing.T, endpoint, method, params string) (meta told) {
	t.Helper()
	response, err := post(t, http.DefaultClient, endpoint, method, params)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return metaOf(t, body, "result")
}

func metaOf(t *testing.T, body []byte, within string) told {
	t.Helper()
	if within != "" {
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(body, &answer); err != nil || answer[within] == nil {
			t.Fatalf("%s: %v", body, err)
		}
		body = answer[within]
	}
	var result struct {
		Meta told `json:"_meta"`
	}
	if err := json.Unmarshal(body, &result); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return result.Meta
}

func greetingAs(t *testing.T, o runtime.Options) *runtime.Provider {
	t.Helper()
	module, err := os.ReadFile("testdata/greeting.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return load(t, module, &o)
}

// With Options.Provenance each result says which code has answered, in all revisions and by tools, and without it none does.
func TestResultsSayWhichCodeAnswered(t *testing.T) {
	p := greetingAs(t, runtime.Options{Provenance: &resource.Provenance{Reference: "r.io/g:1", Signer: "ada", Policy: "sha256:00", Digest: "replaced"}})
	want := told{Provider: map[string]string{
		"reference": "r.io/g:1", "signer": "ada", "policy": "sha256:00", "version": "1.0.0", "digest": p.Info().Digest,
	}}
	endpoint := serve(t, p.Source())
	for method, params := range map[string]string{
		"resources/read": `"uri":"greeting://Ada"`, "resources/list": "", "resources/templates/list": "",
	} {
		if diff := cmp.Diff(want, askNew(t, endpoint, method, params)); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
	server, err := runtime.NewServer(p.Source(), &runtime.ServerOptions{Tools: true})
	if err != nil {
		t.Fatal(err)
	}
	for method, params := range map[string]any{
		"resources/read": map[string]string{"uri": "greeting://Ada"},
		"resources/list": nil,
		"tools/call":     map[string]any{"name": "read_resource", "arguments": map[string]string{"uri": "greeting://Ada"}},
	} {
		result, err := server.Call(t.Context(), method, params)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, metaOf(t, result, "")); diff != "" {
			t.Errorf("%s of %s: %s", method, streamtest.OldRevision, diff)
		}
	}
	silent := serve(t, greetingAs(t, runtime.Options{}).Source())
	if diff := cmp.Diff(told{}, askNew(t, silent, "resources/read", `"uri":"greeting://Ada"`)); diff != "" {
		t.Error("without Provenance: " + diff)
	}
}

// Of several providers, a read names the one to which the URI belongs, and a list all of them.
func TestSeveralProvidersAreToldApart(t *testing.T) {
	a := greetingAs(t, runtime.Options{Name: "a", Provenance: &resource.Provenance{Reference: "r.io/a:1"}})
	b := load(t, hostile.Probe(0, false), &runtime.Options{Name: "b", Provenance: &resource.Provenance{Reference: "r.io/b:1"}})
	all, err := runtime.Combine(a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	endpoint := serve(t, all.Source())
	if got := askNew(t, endpoint, "resources/read", `"uri":"greeting://Ada"`); got.Provider["reference"] != "r.io/a:1" {
		t.Errorf("a read: %+v", got)
	}
	got := askNew(t, endpoint, "resources/list", "")
	if len(got.Providers) != 2 || got.Providers[0]["reference"] != "r.io/a:1" || got.Providers[1]["reference"] != "r.io/b:1" {
		t.Errorf("a list: %+v", got)
	}
}
