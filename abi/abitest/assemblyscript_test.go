package abitest_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

const (
	assemblyScriptSDK = "../../guest-sdk/assemblyscript"
	assemblyScriptKit = "../../testdata/wasm/kit-assemblyscript"
)

// TestAssemblyScriptGuest holds the AssemblyScript SDK to the kit, and shows its decoder what no host would send.
func TestAssemblyScriptGuest(t *testing.T) {
	for _, runtime := range []string{"stub", "incremental"} {
		t.Run(runtime, func(t *testing.T) {
			guest := assemblyScript(t, assemblyScriptKit, "main.ts", "--runtime", runtime)
			abitest.Run(t, guest)
			t.Run("cut requests", func(t *testing.T) { testCutRequests(t, guest) })
			t.Run("bad requests", func(t *testing.T) { testBadRequests(t, guest) })
		})
	}
}

// TestAssemblyScriptRest asks for what the SDK has beyond the kit.
func TestAssemblyScriptRest(t *testing.T) {
	guest := assemblyScript(t, assemblyScriptKit, "rest.ts")
	do := func(t *testing.T, op abi.Op, req abi.Request) abitest.Outcome {
		t.Helper()
		return ask(t, guest, op, req)
	}
	manifest := do(t, abi.OpDescribe, abi.Request{}).Reply.Manifest
	if manifest == nil {
		t.Fatal("DESCRIBE emitted no manifest")
	}
	read := func(t *testing.T, uri, value string, offset, length uint64) abitest.Outcome {
		t.Helper()
		template := func(m abi.Template) bool { return m.URITemplate == uri+"{n}" }
		return do(t, abi.OpRead, abi.Request{
			URI: uri + "x", Route: 1 + uint32(slices.IndexFunc(manifest.Templates, template)),
			Vars: []abi.Var{{Name: "n", Value: value}}, RangeOffset: offset, RangeLength: length,
		})
	}
	t.Run("manifest", func(t *testing.T) { testRestManifest(t, *manifest) })
	t.Run("numbers", func(t *testing.T) {
		for _, c := range []struct{ kind, value, want string }{
			{"i32", "2147483647", "2147483647"}, {"i32", "-2147483648", "-2147483648"}, {"i32", "2147483648", ""},
			{"i32", "", ""}, {"i32", "-", ""}, {"i32", "+1", ""}, {"i32", " 1", ""}, {"i32", "1.0", ""}, {"i32", "-0", "0"},
			{"i64", "9223372036854775807", "9223372036854775807"}, {"i64", "-9223372036854775808", "-9223372036854775808"},
			{"i64", "9223372036854775808", ""}, {"i64", "-9223372036854775809", ""}, {"i64", "99999999999999999999", ""},
			{"u8", "255", "255"}, {"u8", "256", ""}, {"u8", "-1", ""},
		} {
			o := read(t, "rest://"+c.kind+"/", c.value, 0, 0)
			if c.want == "" {
				wantFailure(t, o, abi.CodeInvalidParams, "n is not a whole number: "+c.value)
			} else if len(o.Contents) != 1 || string(o.Contents[0].Body) != c.want {
				t.Errorf("%s of %s: got %v, %v", c.kind, c.value, o.Code, o.Contents)
			}
		}
	})
	t.Run("texts", func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 3, 819, 820, 3276, 3277, 9830, 9831, 50_000} { // around what is inline and chunks
			wantBody(t, read(t, "rest://words/", fmt.Sprint(n), 0, 0), strings.Repeat("aü狐🦊", n))
		}
		wantBody(t, do(t, abi.OpRead, abi.Request{URI: "rest://pairs"}), "x"+strings.Repeat("🦊", 50_000))
		wantBody(t, do(t, abi.OpRead, abi.Request{URI: "rest://lone"}), "a\ufffdb\ufffd狐\ufffd")
	})
	t.Run("ranges", func(t *testing.T) {
		lines := func(from, to int) (s string) {
			for i := from; i < to; i++ {
				s += fmt.Sprintf("%07dü\n", i)
			}
			return s
		}
		wantBody(t, read(t, "rest://lines/", "12000", 0, 0), lines(0, 12_000))
		part := read(t, "rest://lines/", "12000", 500, 60_000)
		wantBody(t, part, lines(50, 6050))
		if part.Contents[0].RangeTotal != 120_000 {
			t.Errorf("range_total: got %d", part.Contents[0].RangeTotal)
		}
		wantBody(t, read(t, "rest://lines/", "120", 501, 10), lines(0, 120)) // whole, as the source cannot skip this
		for _, n := range []int{300, 60_000} {
			slice := read(t, "rest://slice/", fmt.Sprint(n), 10, 250)
			wantBody(t, slice, string(bytesFrom(10, 250)))
			if slice.Contents[0].RangeTotal != uint64(n) {
				t.Errorf("range_total: got %d, want %d", slice.Contents[0].RangeTotal, n)
			}
		}
		wantFailure(t, read(t, "rest://broken/", "20000", 0, 0), abi.CodeUnavailable, "the last line is missing")
	})
	t.Run("progress", func(t *testing.T) {
		o := do(t, abi.OpRead, abi.Request{URI: "rest://clock"})
		wantBody(t, o, "true")
		if want := []abi.Progress{{Done: 1, Total: 2, Message: "half"}}; !slices.Equal(o.Progress, want) {
			t.Errorf("got %v, want %v", o.Progress, want)
		}
	})
	t.Run("denied services", func(t *testing.T) {
		wantFailure(t, do(t, abi.OpRead, abi.Request{URI: "rest://notice"}), abi.CodeDenied, "")
		file := abi.Request{URI: "rest://file/a", Route: 1, Vars: []abi.Var{{Name: "path", Value: "a"}}}
		wantFailure(t, do(t, abi.OpRead, file), abi.CodeDenied, "")
	})
	t.Run("list", func(t *testing.T) { testRestList(t, guest) })
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
		req.Value = "fail"
		o := do(t, abi.OpComplete, req)
		wantFailure(t, o, abi.CodeUnavailable, "not now")
		if o.Reply.Error.RetryAfterMillis != 250 || o.Reply.Error.Data != `{"d":1}` {
			t.Errorf("got %+v", o.Reply.Error)
		}
		req.Arg = "b"
		if got := do(t, abi.OpComplete, req); got.Code != abi.CodeOK || len(got.Reply.Completions) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func testRestManifest(t *testing.T, m abi.Manifest) {
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	suggest := m.Templates[len(m.Templates)-1]
	wantSame(t, suggest, abi.Template{
		URITemplate: "rest://suggest/{a}{?b,c*}", Name: "suggest", Title: "Suggests", Description: "It suggests.",
		MIMEType: "text/html", Audience: 3, Meta: `{"m":1}`, Completes: []string{"a", "c"}, TTLMillis: 60_000, CacheScope: 1,
		Icons: []abi.Icon{{Source: "https://x/y.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark"}},
	})
	clock := m.Resources[slices.IndexFunc(m.Resources, func(r abi.Resource) bool { return r.Name == "clock" })]
	wantSame(t, clock, abi.Resource{
		URI: "rest://clock", Name: "clock", Size: 4, LastModified: "2026-11-22T00:00:00.000Z", Priority: 0.5,
	})
	m.Templates, m.Resources = nil, nil
	wantSame(t, m, abi.Manifest{
		Name: "rest", Version: "2.0.0", Title: "The rest", Description: "Everything else.",
		Ops:          1<<abi.OpDescribe | 1<<abi.OpList | 1<<abi.OpRead | 1<<abi.OpComplete,
		Capabilities: []abi.Capability{{Name: "fs", Params: `{"a":1}`, Optional: true, Reason: "reads files"}},
		Limits: abi.ManifestLimits{
			MemoryPages: 2, DeadlineMillis: 1500, MaxBody: 1 << 20, MaxInstances: 3, Lifecycle: abi.LifecycleSession,
		},
		URIPrefixes: []string{"rest://", "more://"}, SDK: "assemblyscript/1.0.0", ConfigSchema: `{"type":"object"}`,
	})
}

// testRestList has the host say at entry 10 of each page that it has enough, which the guest may hear a little later.
func testRestList(t *testing.T, guest abitest.Guest) {
	var got, want []abi.Resource
	for i := range 40 {
		want = append(want, abi.Resource{
			URI: fmt.Sprintf("more://%d", i), Name: fmt.Sprint(i), Title: "Zwölf", Description: strings.Repeat("x", 1000),
			Size: uint64(i), Priority: math.NaN(),
		})
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
		got, cursor = append(got, o.Reply.Resources...), o.Reply.NextCursor
	}
	wantSame(t, got, want)
	if pages < 2 {
		t.Errorf("got %d pages", pages)
	}
}

// wantSame compares what is printed, in which numbers that are none are equal, and so are no elements and none.
func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if got, want := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func wantBody(t *testing.T, o abitest.Outcome, want string) {
	t.Helper()
	if len(o.Contents) != 1 {
		t.Fatalf("got %v, %d contents", o.Code, len(o.Contents))
	}
	if got := string(o.Contents[0].Body); got != want {
		t.Errorf("got %d bytes, %.40q, want %d, %.40q", len(got), got, len(want), want)
	}
}

func wantFailure(t *testing.T, o abitest.Outcome, code abi.Code, message string) {
	t.Helper()
	said := ""
	if o.Reply.Error != nil {
		said = o.Reply.Error.Message
	}
	if o.Code != code || said != message {
		t.Errorf("got %v %q, want %v %q", o.Code, said, code, message)
	}
}

// bytesFrom returns n bytes of which number i is from+i.
func bytesFrom(from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from + i)
	}
	return b
}

// TestAssemblyScriptREADME compiles the provider of the SDK's README in a project like that of its reader.
func TestAssemblyScriptREADME(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(assemblyScriptSDK, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(text), "```ts\n")
	source, _, ok := strings.Cut(source, "```")
	if !ok {
		t.Fatal("the README has no provider")
	}
	dir := t.TempDir()
	installed, err := filepath.Abs(assemblyScriptSDK)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(installed, filepath.Join(dir, "node_modules", "wasmres")); err != nil { // as npm does
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hello.ts"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"extends": "wasmres/asconfig.json"}`)
	if err := os.WriteFile(filepath.Join(dir, "asconfig.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	guest := assemblyScript(t, dir, "hello.ts")

	for _, name := range []string{"Ada", "", "世界 🌍", strings.Repeat("ü", 30_000)} {
		req := abi.Request{URI: "greeting://x", Route: 1, Vars: []abi.Var{{Name: "name", Value: name}}}
		x := &abitest.Exchange{Request: req.Append(nil)}
		o, err := x.Outcome(guest(t, abi.OpRead, x))
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Contents) != 1 || string(o.Contents[0].Body) != "Hello, "+name+"!" {
			t.Errorf("%.20q: got %v, %.100v", name, o.Code, o.Contents)
		}
	}
}

// testCutRequests ends a good request at every byte: most of the pieces are malformed, and none may trap.
func testCutRequests(t *testing.T, guest abitest.Guest) {
	whole := (&abi.Request{
		URI: "kit://text", Vars: []abi.Var{{Name: "value", Value: "世界"}}, RangeOffset: 1 << 40,
		Principal: &abi.Principal{Subject: "ada", Scopes: []string{"read"}}, Meta: `{"a":1}`,
	}).Append(nil)
	for n := range whole {
		x := &abitest.Exchange{Request: whole[:n]}
		if _, err := x.Outcome(guest(t, abi.OpRead, x)); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// testBadRequests shows the guest what decoders must refuse. That texts are UTF-8 it may take from the host.
func testBadRequests(t *testing.T, guest abitest.Guest) {
	files, err := filepath.Glob("../../testdata/abi/bad-*.hex")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# message: Request\n") || strings.Contains(file, "bad-text-") {
			continue
		}
		x := &abitest.Exchange{Request: unhex(t, string(text))}
		if code := abi.Code(guest(t, abi.OpRead, x)); code != abi.CodeInvalidParams {
			t.Errorf("%s: got %v, want invalid_params", filepath.Base(file), code)
		}
	}
}

// unhex returns the bytes of a file of testdata/abi.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			digits.WriteString(strings.Join(strings.Fields(line), ""))
		}
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// assemblyScript compiles a guest, in dir and with the asconfig.json there, and loads it.
func assemblyScript(t *testing.T, dir, entry string, options ...string) abitest.Guest {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a guest")
	}
	return load(t, guesttest.AssemblyScript(t, dir, entry, options...), true)
}
