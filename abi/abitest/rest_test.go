package abitest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
)

// A rest is a guest of an SDK for scripts that serves rest:// and more://, in any language.
type rest struct {
	guest    abitest.Guest
	manifest abi.Manifest
}

func newRest(t *testing.T, guest abitest.Guest) *rest {
	t.Helper()
	r := &rest{guest: guest}
	m := r.do(t, abi.OpDescribe, abi.Request{}).Reply.Manifest
	if m == nil {
		t.Fatal("DESCRIBE emitted no manifest")
	}
	r.manifest = *m
	return r
}

// test asks for what an SDK has beyond the kit. sdk is its name and version, badNumber what it says of "1x".
func (r *rest) test(t *testing.T, sdk, badNumber string) {
	t.Run("manifest", func(t *testing.T) { r.testManifest(t, sdk) })
	t.Run("texts", r.testTexts)
	t.Run("ranges", r.testRanges)
	t.Run("failures", func(t *testing.T) { r.testFailures(t, badNumber) })
	t.Run("progress", r.testProgress)
	t.Run("globals", func(t *testing.T) {
		wantBody(t, r.do(t, abi.OpRead, abi.Request{URI: "rest://globals"}), "all there")
		wantBody(t, r.do(t, abi.OpRead, abi.Request{URI: "rest://imports"}), "7, a text\n")
	})
	t.Run("list", r.testList)
	t.Run("complete", r.testComplete)
}

func (r *rest) do(t *testing.T, op abi.Op, req abi.Request) abitest.Outcome {
	t.Helper()
	return ask(t, r.guest, op, req)
}

// route returns the number of a template, which must be there.
func (r *rest) route(template string) uint32 {
	i := slices.IndexFunc(r.manifest.Templates, func(m abi.Template) bool { return m.URITemplate == template })
	if i < 0 {
		panic(template + " is no template")
	}
	return 1 + uint32(i)
}

// read reads a resource of the template that is uri and {n}, or a part of it.
func (r *rest) read(t *testing.T, uri, value string, offset, length uint64) abitest.Outcome {
	t.Helper()
	template := func(m abi.Template) bool { return m.URITemplate == uri+"{n}" }
	return r.do(t, abi.OpRead, abi.Request{
		URI: uri + "x", Route: 1 + uint32(slices.IndexFunc(r.manifest.Templates, template)),
		Vars: []abi.Var{{Name: "n", Value: value}}, RangeOffset: offset, RangeLength: length,
	})
}

func (r *rest) testTexts(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 819, 820, 1024, 1025, 9830, 9831, 50_000} { // around what is inline and chunks
		wantBody(t, r.read(t, "rest://words/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
		wantBody(t, r.read(t, "rest://stream/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
		wantBody(t, r.read(t, "rest://async/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
	}
}

func (r *rest) testRanges(t *testing.T) {
	for _, kind := range []string{"whole", "chunks", "later"} {
		for _, c := range []struct{ offset, length, first, n uint64 }{
			{10, 250, 10, 250}, {0, 1, 0, 1}, {99_999, 0, 99_999, 1}, {100_000, 5, 100_000, 0}, {200_000, 5, 0, 0},
			{49_151, 2, 49_151, 2},
		} {
			o := r.read(t, "rest://"+kind+"/", "100000", c.offset, c.length)
			wantBody(t, o, string(bytesFrom(int(c.first), int(c.n))))
			if o.Contents[0].RangeTotal != 100_000 {
				t.Errorf("%s from %d on: range_total is %d", kind, c.offset, o.Contents[0].RangeTotal)
			}
		}
	}
}

func (r *rest) testFailures(t *testing.T, badNumber string) {
	for uri, want := range map[string]struct {
		code    abi.Code
		message string
	}{
		"rest://thrown": {abi.CodeInternal, ""}, "rest://rejected": {abi.CodeInternal, ""},
		"rest://never": {abi.CodeInternal, ""}, "rest://nothing": {abi.CodeNotFound, ""},
		"rest://odd": {abi.CodeInternal, ""}, "rest://refused": {abi.CodeDenied, "not you"},
		"rest://midway": {abi.CodeInternal, ""}, "rest://deep": {abi.CodeInternal, ""},
	} {
		wantFailure(t, r.do(t, abi.OpRead, abi.Request{URI: uri}), want.code, want.message)
	}
	wantFailure(t, r.read(t, "rest://words/", "1x", 0, 0), abi.CodeInvalidParams, badNumber)
}

func (r *rest) testProgress(t *testing.T) {
	o := r.do(t, abi.OpRead, abi.Request{URI: "rest://slow"})
	wantBody(t, o, "true")
	if want := []abi.Progress{{Done: 1, Total: 2, Message: "half"}}; !slices.Equal(o.Progress, want) {
		t.Errorf("got %v, want %v", o.Progress, want)
	}
}

func (r *rest) testComplete(t *testing.T) {
	req := abi.Request{URI: "rest://suggest/{a}{?b,c*}", Arg: "a", Value: "uP"}
	if got := r.do(t, abi.OpComplete, req).Reply.Completions; !slices.Equal(got, []string{"Upper"}) {
		t.Errorf("got %q", got)
	}
	req.Arg, req.Value, req.Vars = "c", "y", []abi.Var{{Name: "a", Value: "x"}}
	got := r.do(t, abi.OpComplete, req).Reply
	if len(got.Completions) != 100 || got.Completions[7] != "xy7" || got.CompletionTotal != 150 || !got.CompletionMore {
		t.Errorf("got %+v", got)
	}
	req.Arg = "b"
	if got := r.do(t, abi.OpComplete, req); got.Code != abi.CodeOK || len(got.Reply.Completions) != 0 {
		t.Errorf("got %+v", got)
	}
}

// testManifest compares the manifest, without the other resources and templates. JSON may have spaces.
func (r *rest) testManifest(t *testing.T, sdk string) {
	m := r.manifest
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	suggest := m.Templates[len(m.Templates)-1]
	suggest.Meta, m.ConfigSchema = compact(t, suggest.Meta), compact(t, m.ConfigSchema)
	m.Capabilities = slices.Clone(m.Capabilities)
	m.Capabilities[0].Params = compact(t, m.Capabilities[0].Params)
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
	m.Ops &^= 1 << abi.OpConfigure // with which an engine may run the script
	wantSame(t, m, abi.Manifest{
		Name: "rest", Version: "2.0.0", Title: "The rest", Description: "Everything else.",
		Ops:          1<<abi.OpDescribe | 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete,
		Capabilities: []abi.Capability{{Name: "fs", Params: `{"a":1}`, Optional: true, Reason: "reads files"}},
		Limits: abi.ManifestLimits{
			MemoryPages: 2, DeadlineMillis: 1500, MaxBody: 1 << 20, MaxInstances: 3, Lifecycle: abi.LifecycleSession,
		},
		URIPrefixes: []string{"rest://", "more://"}, SDK: sdk, ConfigSchema: `{"type":"object"}`,
	})
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.String()
}

// testList has the host say at entry 10 of each page that it has enough, which the guest may hear a little later.
func (r *rest) testList(t *testing.T) {
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
		o, err := x.Outcome(r.guest(t, abi.OpList, x))
		if err != nil || o.Code != abi.CodeOK || o.Reply.TTLMillis != 5000 || o.Reply.CacheScope != abi.CachePublic {
			t.Fatalf("page %d: got %v, %v, %+v", pages, err, o.Code, o.Reply)
		}
		for _, entry := range o.Reply.Resources {
			got = append(got, entry.URI)
		}
		cursor = o.Reply.NextCursor
	}
	if !slices.Equal(got, want) || pages < 2 {
		t.Errorf("got %d pages: %q", pages, got)
	}
}
