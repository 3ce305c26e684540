package abitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/abitest"
	"github.com/wasmres/wasmres/internal/guesttest"
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
	r := newRest(t, javaScript(t, filepath.Join(javaScriptKit, "rest")))
	r.test(t, "javascript/1.0.0", "n is not a whole number from 0 to 9007199254740991")
	t.Run("lone surrogates", func(t *testing.T) {
		wantBody(t, r.do(t, abi.OpRead, abi.Request{URI: "rest://lone"}), "a\ufffdb\ufffd狐\ufffd")
	})
	t.Run("variables", func(t *testing.T) { testJavaScriptVariables(t, r.do, r.manifest) })
	t.Run("answers", func(t *testing.T) { testJavaScriptAnswers(t, r.do) })
}

// testJavaScriptAnswers reads what the engine sends by itself, and what it leaves to the scripts of the SDK.
func testJavaScriptAnswers(t *testing.T, do func(*testing.T, abi.Op, abi.Request) abitest.Outcome) {
	for req, want := range map[[2]string]string{
		{"rest://short", ""}:  `rest://other text/x "e" false "ü"`,
		{"rest://short", "f"}: `rest://other text/x "e" false "ü"`,
		{"rest://short", "e"}: `rest://other  "e" true ""`,
		{"rest://bytes", ""}:  `rest://bytes image/x "" false "\x00\xff"`,
		{"rest://buffer", ""}: `rest://buffer application/octet-stream "" false "\x01\x02"`,
	} {
		o := do(t, abi.OpRead, abi.Request{URI: req[0], IfNoneMatch: req[1]})
		if len(o.Contents) != 1 {
			t.Fatalf("%q: got %v, %d contents", req, o.Code, len(o.Contents))
		}
		c := o.Contents[0]
		if got := fmt.Sprintf("%s %s %q %t %q", c.URI, c.MIMEType, c.ETag, c.NotModified, c.Body); got != want {
			t.Errorf("%q: got %s, want %s", req, got, want)
		}
	}
	if o := do(t, abi.OpRead, abi.Request{URI: "rest://bytes"}); o.Reply.TTLMillis != 7 || o.Reply.CacheScope != abi.CachePublic {
		t.Errorf("got %+v", o.Reply)
	}
	wantFailure(t, do(t, abi.OpRead, abi.Request{URI: "rest://bytes", MaxBytes: 1}), abi.CodeTooLarge, "")
	wantFailure(t, do(t, abi.OpRead, abi.Request{URI: "rest://both"}), abi.CodeInternal, "")
	wantFailure(t, do(t, abi.OpRead, abi.Request{URI: "rest://getter"}), abi.CodeDenied, "not this")
}

// testJavaScriptVariables sends variables that a template has once, several times, not at all, and some it does not have.
func testJavaScriptVariables(t *testing.T, do func(*testing.T, abi.Op, abi.Request) abitest.Outcome, m abi.Manifest) {
	route := 1 + slices.IndexFunc(m.Templates, func(m abi.Template) bool { return m.URITemplate == "rest://vars/{a}/{b}{?c,d*}" })
	many := slices.Repeat([]abi.Var{{Name: "d", Value: "1"}}, 40)
	for want, vars := range map[string][]abi.Var{
		`{}`:                                {},
		`{"b":"2"}`:                         {{Name: "b", Value: "2"}},
		`{"d":["ü"]}`:                       {{Name: "d", Value: "ü"}},
		`{"a":"2"}`:                         {{Name: "a", Value: "1"}, {Name: "a", Value: "2"}},
		`{"a":"1","é":"狐","__proto__":"3"}`: {{Name: "a", Value: "1"}, {Name: "é", Value: "狐"}, {Name: "__proto__", Value: "3"}},
		`{"a":"1","b":"2","c":"","d":["3","4"]}`: {
			{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "c"}, {Name: "d", Value: "3"}, {Name: "d", Value: "4"},
		},
		`{"d":[` + strings.Repeat(`"1",`, 39) + `"1"]}`: many,
	} {
		wantBody(t, do(t, abi.OpRead, abi.Request{URI: "rest://vars/x", Route: uint32(route), Vars: vars}), want)
	}
	request := abi.Request{URI: "rest://vars/x", Route: uint32(len(m.Templates) + 1)}
	wantFailure(t, do(t, abi.OpRead, request), abi.CodeNotFound, "")
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
	return load(t, guesttest.Packed(t, dir, l), true)
}
