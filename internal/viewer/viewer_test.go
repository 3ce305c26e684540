package viewer_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/guestlog"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/viewer"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

const markdown = "# Notes\n\nSee [the other](other.md), [the web](https://example.org/), [bad](javascript:alert(1)), [worse](  JaVaScRiPt:alert(1)), " +
	"[data](data:text/html,<script>alert(1)</script>), [file](file:///etc/passwd), [own](x://json).\n\n<script>alert(1)</script>\n\n" +
	"<img src=x onerror=alert(1)> ![a picture](https://evil.example/pixel.png \"t\") \u202e\n\n| a | b |\n|:-:|--|\n| 1 | <b onclick=x>2</b> |\n\n" +
	"[ref]: javascript:alert(1)\n[click][ref] <javascript:alert(1)> `<script>`\n"

// contents are what the provider of the tests answers, by URI: a type and a text.
var contents = map[string][2]string{
	"x://notes/a.md": {"text/markdown", markdown},
	"x://json":       {"application/json", `{"a":[1,{"b":"</pre><script>alert(1)</script>"}]}`},
	"x://html":       {"text/html", "<script>alert(1)</script>"},
	"x://svg":        {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`},
	"x://huge":       {"text/plain", strings.Repeat("<", 1<<20)},
	"x://empty":      {"text/plain", ""},
}

func provider() *guesttest.Puppet {
	m := abi.Manifest{Name: "notes<script>", Version: "1.0.0", Title: "Notes<script>alert(1)</script>", Description: "<b>", Ops: 1<<abi.OpRead | 1<<abi.OpComplete}
	for uri, c := range contents {
		m.Resources = append(m.Resources, abi.Resource{URI: uri, Name: "<i>" + uri, MIMEType: c[0], Description: "<script>"})
	}
	m.Templates = []abi.Template{{URITemplate: "x://notes/{name}{?page}", Name: "note", Completes: []string{"name"}}}
	return &guesttest.Puppet{Manifest: m, Next: func(_ context.Context, op abi.Op, n int, req *abi.Request) guesttest.Step {
		c, ok := contents[req.URI]
		switch {
		case op == abi.OpComplete && n == 0:
			return guesttest.Emit((&abi.Reply{Completions: []string{req.Value + "<one>", req.Value + "two"}}).Append(nil))
		case op == abi.OpRead && !ok && n == 0:
			return guesttest.Log(1, "asked for \u202e<script> "+req.URI)
		case op == abi.OpRead && !ok:
			return guesttest.Return(abi.CodeNotFound)
		case op == abi.OpRead && n == 0:
			return guesttest.Emit((&abi.Content{URI: req.URI, MIMEType: c[0], Kind: abi.KindText}).Append(nil))
		case op == abi.OpRead && n == 1:
			return guesttest.Body([]byte(c[1]))
		}
		return guesttest.Return(0)
	}}
}

// A site is a server of the pages.
type site struct {
	*http.Client
	url  string // of the first page, with the token
	base string // without the token and the slash at the end
	host string
}

func serve(t *testing.T) *site {
	t.Helper()
	p := provider()
	file := filepath.Join(t.TempDir(), "notes.wasm")
	if err := os.WriteFile(file, p.Binary(t), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := guestlog.Open(guestlog.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logs.Close() })
	a, err := app.Open(t.Context(), app.Config{
		File: file, Isolation: runtime.IsolateNone, CacheDir: guesttest.CacheDir(t), Logger: slog.New(viewer.Handler(logs, slog.DiscardHandler)),
		ReplaceServices: func(capability.Services) (capability.Services, error) { return p.Services(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	server, err := viewer.New(viewer.Config{App: a, Logs: logs})
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	at := server.URL(l.Addr())
	base, _, _ := strings.Cut(at, "/?token=")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &site{&http.Client{Jar: jar}, at, base, l.Addr().String()}
}

func (s *site) get(t *testing.T, at string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
		r.Host = header.Get("Host")
	}
	answer, err := s.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func (s *site) read(t *testing.T, uri string) (*http.Response, string) {
	t.Helper()
	return s.get(t, s.base+"/read?"+url.Values{"uri": {uri}}.Encode(), nil)
}

func TestOnlyTheTokenOpens(t *testing.T) {
	s := serve(t)
	for name, at := range map[string]string{
		"no token": s.base + "/", "a wrong token": s.base + "/?token=x", "the root": "http://" + s.host + "/",
		"another page with the token": strings.Replace(s.url, "/?", "/log?", 1), "the style": s.base + "/style.css",
	} {
		if answer, text := s.get(t, at, nil); answer.StatusCode != http.StatusForbidden || strings.Contains(text, "<html") {
			t.Errorf("%s: got %d %s", name, answer.StatusCode, text)
		}
	}
	answer, page := s.get(t, s.url, nil)
	if answer.StatusCode != http.StatusOK || !strings.Contains(page, "Resources") || answer.Request.URL.RawQuery != "" {
		t.Fatalf("with the token: got %d at %s: %s", answer.StatusCode, answer.Request.URL, page)
	}
	at, err := url.Parse("http://" + s.host + "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if sent := s.Jar.Cookies(at); len(sent) > 0 {
		t.Errorf("other paths of the machine get the cookie %v", sent)
	}
}

// A page of another name, or another origin, reaches nothing even with the cookie.
func TestOtherHostsAndOrigins(t *testing.T) {
	s := serve(t)
	s.get(t, s.url, nil)
	_, port, _ := net.SplitHostPort(s.host)
	for name, header := range map[string]http.Header{
		"a DNS name":            {"Host": {"evil.example:" + port}},
		"a name that begins so": {"Host": {"127.0.0.1.evil.example:" + port}},
		"another port":          {"Host": {"127.0.0.1:1"}},
		"no port":               {"Host": {"127.0.0.1"}},
		"a foreign origin":      {"Host": {s.host}, "Origin": {"http://evil.example"}},
		"another port's origin": {"Host": {s.host}, "Origin": {"http://127.0.0.1:1"}},
		"two origins":           {"Host": {s.host}, "Origin": {"http://" + s.host, "http://evil.example"}},
		"null":                  {"Host": {s.host}, "Origin": {"null"}},
		"a picture elsewhere":   {"Host": {s.host}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}},
	} {
		if answer, text := s.get(t, s.base+"/read?uri=x://json", header); answer.StatusCode != http.StatusForbidden || strings.Contains(text, "alert") {
			t.Errorf("%s: got %d %s", name, answer.StatusCode, text)
		}
	}
	if answer, _ := s.get(t, s.base+"/", http.Header{"Host": {s.host}, "Origin": {"http://" + s.host}}); answer.StatusCode != http.StatusOK {
		t.Errorf("its own origin: got %d", answer.StatusCode)
	}
}

// What a provider says is text. Its Markdown has no markup but what the renderer makes, and no links that run something.
func TestHostileProvider(t *testing.T) {
	s := serve(t)
	_, first := s.get(t, s.url, nil)
	pages := map[string]string{"first": first}
	for uri := range contents {
		answer, page := s.read(t, uri)
		if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("%s: got %d %v", uri, answer.StatusCode, answer.Header)
		}
		pages[uri] = page
	}
	_, pages["error"] = s.read(t, "x://<script>alert(1)</script>")
	_, pages["log"] = s.get(t, s.base+"/log", nil)
	for name, page := range pages {
		lower := strings.ToLower(page)
		for _, bad := range []string{"<script>", "<b ", "<i>", "onerror=alert", "href=\"javascript:", "href=\"data:", "href=\"file:", "evil.example/pixel.png\"><img", " style=", "\u202e", "<img src=\"https:"} {
			if bad == "onerror=alert" && name == "error" {
				continue
			}
			if strings.Contains(lower, bad) {
				t.Errorf("%s has %q: %.3000s", name, bad, page)
			}
		}
	}
	notes := pages["x://notes/a.md"]
	for _, want := range []string{"<h1>Notes</h1>", "/read?uri=x%3A%2F%2Fnotes%2Fother.md\"", `<a href="https://example.org/"`, "<td>1</td>", "\\u202e"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the Markdown has no %s: %s", want, notes)
		}
	}
	if !strings.Contains(pages["x://json"], "&#34;a&#34;: [\n    1,") {
		t.Errorf("the JSON is %s", pages["x://json"])
	}
	if page := pages["x://huge"]; len(page) > 2<<20 || !strings.Contains(page, "The text is longer") {
		t.Errorf("the huge text makes a page of %d bytes", len(page))
	}
}

func TestRawContentsRunNothing(t *testing.T) {
	s := serve(t)
	s.get(t, s.url, nil)
	for at, kind := range map[string]string{
		"x://svg&n=0&show=1": "image/svg+xml", "x://svg&n=0": "application/octet-stream", "x://html&n=0&show=1": "application/octet-stream", "x://json&n=0": "application/octet-stream",
	} {
		answer, _ := s.get(t, s.base+"/raw?uri="+at, nil)
		policy := answer.Header.Get("Content-Security-Policy")
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != kind || !strings.Contains(policy, "sandbox") || strings.Contains(policy, "script") || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got %d %v", at, answer.StatusCode, answer.Header)
		}
	}
	for _, n := range []string{"1", "-1", "x", "99999999999999999999"} {
		if answer, _ := s.get(t, s.base+"/raw?uri=x://json&n="+n, nil); answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusBadRequest {
			t.Errorf("content %s: got %d", n, answer.StatusCode)
		}
	}
}

func TestTemplates(t *testing.T) {
	s := serve(t)
	s.get(t, s.url, nil)
	form := url.Values{"template": {"x://notes/{name}{?page}"}, "v.name": {"a.md"}}
	if answer, page := s.get(t, s.base+"/fill?"+form.Encode(), nil); answer.StatusCode != http.StatusOK || !strings.Contains(page, "<h1>Notes</h1>") {
		t.Errorf("filled in: got %d %s", answer.StatusCode, page)
	}
	form.Set("suggest", "name")
	if _, page := s.get(t, s.base+"/fill?"+form.Encode(), nil); !strings.Contains(page, `<option value="a.md&lt;one&gt;">`) || !strings.Contains(page, `value="a.md"`) {
		t.Errorf("suggestions: got %s", page)
	}
	if _, text := s.get(t, s.base+"/complete?argument=v.name&"+form.Encode(), nil); text != `["a.md\u003cone\u003e","a.mdtwo"]`+"\n" {
		t.Errorf("completion: got %s", text)
	}
	if answer, page := s.get(t, s.base+"/fill?template={", nil); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("no template: got %d %s", answer.StatusCode, page)
	}
}

func TestReadsShowTheirCosts(t *testing.T) {
	s := serve(t)
	s.get(t, s.url, nil)
	s.read(t, "x://json")
	s.read(t, "x://none")
	_, page := s.get(t, s.base+"/", nil)
	_, reads, _ := strings.Cut(page, `<div id="reads"`)
	if strings.Count(reads, "<th scope=\"row\">") != 2 || !strings.Contains(reads, "x://json</code></th><td class=\"n\">") || strings.Contains(reads, `<td class="n">0</td><td class="n">49 B`) {
		t.Errorf("got %s", reads)
	}
	if _, log := s.get(t, s.base+"/log", nil); !strings.Contains(log, `asked for \u202e&lt;script&gt; x://none`) {
		t.Errorf("the log is %s", log)
	}
}

// A page learns at once that the provider has logged something.
func TestEvents(t *testing.T) {
	s := serve(t)
	s.get(t, s.url, nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/events?log=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	in := bufio.NewScanner(answer.Body)
	if !in.Scan() || in.Text() != ": here" || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %q %v", in.Text(), answer.Header)
	}
	s.read(t, "x://none") // which logs
	for in.Scan() {
		if in.Text() == "event: change" {
			return
		}
	}
	t.Errorf("the stream has ended: %v", in.Err())
}
