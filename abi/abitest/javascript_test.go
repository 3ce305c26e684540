package abitest_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/project"
)

const (
	javaScriptSDK = "../../guest-sdk/javascript"
	javaScriptKit = "../../testdata/wasm/kit-javascript"
)

// TestJavaScriptGuest holds the JavaScript SDK to the kit, and shows its decoder what no host would send.
func TestJavaScriptGuest(t *testing.T) {
	guest := javaScript(t, javaScriptKit)
	abitest.Run(t, guest)
	t.Run("cut requests", func(t *testing.T) { testCutRequests(t, guest) })
	t.Run("bad requests", func(t *testing.T) { testBadRequests(t, guest) })
}

// TestJavaScriptRest asks for what the SDK has beyond the kit.
func TestJavaScriptRest(t *testing.T) {
	guest := javaScript(t, filepath.Join(javaScriptKit, "rest"))
	do := func(t *testing.T, op abi.Op, req abi.Request) abitest.Outcome {
		t.Helper()
		return ask(t, guest, op, req)
	}
	m := do(t, abi.OpDescribe, abi.Request{}).Reply.Manifest
	if m == nil {
		t.Fatal("DESCRIBE emitted no manifest")
	}
	read := func(t *testing.T, uri, value string, offset, length uint64) abitest.Outcome {
		t.Helper()
		template := func(m abi.Template) bool { return m.URITemplate == uri+"{n}" }
		return do(t, abi.OpRead, abi.Request{
			URI: uri + "x", Route: 1 + uint32(slices.IndexFunc(m.Templates, template)),
			Vars: []abi.Var{{Name: "n", Value: value}}, RangeOffset: offset, RangeLength: length,
		})
	}
	t.Run("manifest", func(t *testing.T) { testJavaScriptManifest(t, *m) })
	t.Run("texts", func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 3, 819, 820, 1024, 1025, 9830, 9831, 50_000} { // around what is inline and chunks
			wantBody(t, read(t, "rest://words/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
			wantBody(t, read(t, "rest://stream/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
			wantBody(t, read(t, "rest://async/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
		}
		wantBody(t, do(t, abi.OpRead, abi.Request{URI: "rest://lone"}), "a\ufffdb\ufffd狐\ufffd")
	})
	t.Run("ranges", func(t *testing.T) {
		for _, kind := range []string{"whole", "chunks", "later"} {
			for _, c := range []struct{ offset, length, first, n uint64 }{
				{10, 250, 10, 250}, {0, 1, 0, 1}, {99_999, 0, 99_999, 1}, {100_000, 5, 100_000, 0}, {200_000, 5, 0, 0},
				{49_151, 2, 49_151, 2},
			} {
				o := read(t, "rest://"+kind+"/", "100000", c.offset, c.length)
				wantBody(t, o, string(bytesFrom(int(c.first), int(c.n))))
				if o.Contents[0].RangeTotal != 100_000 {
					t.Errorf("%s from %d on: range_total is %d", kind, c.offset, o.Contents[0].RangeTotal)
				}
			}
		}
	})
	t.Run("failures", func(t *testing.T) {
		for uri, want := range map[string]struct {
			code    abi.Code
			message string
		}{
			"rest://thrown": {abi.CodeInternal, ""}, "rest://rejected": {abi.CodeInternal, ""},
			"rest://never": {abi.CodeInternal, ""}, "rest://nothing": {abi.CodeNotFound, ""},
			"rest://odd": {abi.CodeInternal, ""}, "rest://refused": {abi.CodeDenied, "not you"},
			"rest://midway": {abi.CodeInternal, ""}, "rest://deep": {abi.CodeInternal, ""},
		} {
			wantFailure(t, do(t, abi.OpRead, abi.Request{URI: uri}), want.code, want.message)
		}
		wantFailure(t, read(t, "rest://words/", "1x", 0, 0), abi.CodeInvalidParams,
			"n is not a whole number from 0 to 9007199254740991")
	})
	t.Run("progress", func(t *testing.T) {
		o := do(t, abi.OpRead, abi.Request{URI: "rest://slow"})
		wantBody(t, o, "true")
		if want := []abi.Progress{{Done: 1, Total: 2, Message: "half"}}; !slices.Equal(o.Progress, want) {
			t.Errorf("got %v, want %v", o.Progress, want)
		}
	})
	t.Run("globals", func(t *testing.T) {
		wantBody(t, do(t, abi.OpRead, abi.Request{URI: "rest://globals"}), "all there")
		wantBody(t, do(t, abi.OpRead, abi.Request{URI: "rest://imports"}), "7, a text\n")
	})
	t.Run("list", func(t *testing.T) { testJavaScriptList(t, guest) })
	t.Run("complete", func(t *testing.T) {
		req := abi.Request{URI: "rest://suggest/{a}{?b,c*}", Arg: "a", Value: "uP"}
		if got := do(t, abi.OpComplete, req).Reply.Completions; !slices.Equal(got, []string{"Upper"}) {
			t.Errorf("got %q", got)
		}
		req.Arg, req.Value, req.Vars = "c", "y", []abi.Var{{Name: "a", Value: "x"}}
		got := do(t, abi.OpComplete, req).Reply
		if len(got.Completions) != 100 || got.Completions[7] != "xy7" || got.CompletionTotal != 150 || !got.CompletionMore {
			t.Errorf("got %+v", got)
		}
		req.Arg = "b"
		if got := do(t, abi.OpComplete, req); got.Code != abi.CodeOK || len(got.Reply.Completions) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func testJavaScriptManifest(t *testing.T, m abi.Manifest) {
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	suggest := m.Templates[len(m.Templates)-1]
	wantSame(t, suggest, abi.Template{
		URITemplate: "rest://suggest/{a}{?b,c*}", Name: "suggest", Title: "Suggests", Description: "It suggests.",
		MIMEType: "text/html", Audience: 3, Meta: `{"m":1}`, Completes: []string{"a", "c"}, TTLMillis: 60_000, CacheScope: 1,
		Icons:    []abi.Icon{{Source: "https://x/y.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark"}},
		Priority: math.NaN(),
	})
	slow := m.Resources[slices.IndexFunc(m.Resources, func(r abi.Resource) bool { return r.Name == "slow" })]
	wantSame(t, slow, abi.Resource{
		URI: "rest://slow", Name: "slow", Size: 4, LastModified: "2026-11-22T00:00:00.000Z", Priority: 0.5,
	})
	m.Templates, m.Resources = nil, nil
	wantSame(t, m, abi.Manifest{
		Name: "rest", Version: "2.0.0", Title: "The rest", Description: "Everything else.",
		Ops:          1<<abi.OpDescribe | 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete,
		Capabilities: []abi.Capability{{Name: "fs", Params: `{"a":1}`, Optional: true, Reason: "reads files"}},
		Limits: abi.ManifestLimits{
			MemoryPages: 2, DeadlineMillis: 1500, MaxBody: 1 << 20, MaxInstances: 3, Lifecycle: abi.LifecycleSession,
		},
		URIPrefixes: []string{"rest://", "more://"}, SDK: "javascript/1.0.0", ConfigSchema: `{"type":"object"}`,
	})
}

// testJavaScriptList has the host say at entry 10 of each page that it has enough, which the guest may hear a little
// later.
func testJavaScriptList(t *testing.T, guest abitest.Guest) {
	var got, want []string
	for i := range 40 {
		want = append(want, fmt.Sprintf("more://%d", i))
	}
	pages := 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		if pages > 4 {
			t.Fatal("the pages do not end")
		}
		x := &abitest.Exchange{Request: (&abi.Request{Cursor: cursor}).Append(nil), Limit: 10}
		o, err := x.Outcome(guest(t, abi.OpList, x))
		if err != nil || o.Code != abi.CodeOK || o.Reply.TTLMillis != 5000 || o.Reply.CacheScope != abi.CachePublic {
			t.Fatalf("page %d: got %v, %v, %+v", pages, err, o.Code, o.Reply)
		}
		for _, r := range o.Reply.Resources {
			got = append(got, r.URI)
		}
		cursor = o.Reply.NextCursor
	}
	if !slices.Equal(got, want) || pages < 2 {
		t.Errorf("got %d pages: %q", pages, got)
	}
}

// TestJavaScriptREADME builds the provider of the SDK's README.
func TestJavaScriptREADME(t *testing.T) {
	text, err := os.ReadFile(javaScriptSDK + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(text), "```js\n")
	source, _, ok := strings.Cut(source, "```")
	if !ok {
		t.Fatal("the README has no provider")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "provider.js"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	guest := javaScript(t, dir)
	for _, name := range []string{"Ada", "", "世界 🌍", strings.Repeat("ü", 30_000)} {
		vars := []abi.Var{{Name: "name", Value: name}}
		o := ask(t, guest, abi.OpRead, abi.Request{URI: "greeting://x", Route: 1, Vars: vars})
		if len(o.Contents) != 1 || string(o.Contents[0].Body) != "Hello, "+name+"!" {
			t.Errorf("%.20q: got %v, %.100v", name, o.Code, o.Contents)
		}
	}
}

// javaScript builds the provider in a folder and loads it.
func javaScript(t *testing.T, dir string) abitest.Guest {
	t.Helper()
	return packed(t, dir, project.JavaScript)
}

// packed builds a provider whose scripts are packed into an engine, and loads it. That takes no tools.
func packed(t *testing.T, dir string, l project.Language) abitest.Guest {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the engine")
	}
	module, err := project.Build(t.Context(), dir, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(t.TempDir(), "guest.wasm")
	if err := os.WriteFile(wasm, module.Binary, 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, wasm, true)
}
