package runtime_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/resource"
)

// clientsOf knows the identities of clients by the header Authorization.
type clientsOf map[string]*auth.Identity

func (c clientsOf) Authenticate(shown auth.Credential) (*auth.Identity, error) {
	if shown.Authorization == "" {
		return nil, auth.ErrMissing
	}
	if i := c[shown.Authorization]; i != nil {
		return i, nil
	}
	return nil, auth.ErrInvalid
}

func (clientsOf) Challenge(string) string { return `Bearer realm="test"` }

// identityOf makes the identity of a client with grants, each as "ACTIONS URI…".
func identityOf(t *testing.T, name string, grants ...string) *auth.Identity {
	t.Helper()
	var list []auth.Grant
	for _, text := range grants {
		words := strings.Fields(text)
		var g auth.Grant
		for _, action := range strings.Split(words[0], ",") {
			a, err := auth.ParseAction(action)
			if err != nil {
				t.Fatal(err)
			}
			g.Actions |= a
		}
		for _, uri := range words[1:] {
			p, err := auth.ParsePattern(uri)
			if err != nil {
				t.Fatal(err)
			}
			g.URIs = append(g.URIs, p)
		}
		list = append(list, g)
	}
	return auth.NewIdentity(t.Context(), abi.Principal{Subject: name}, list, time.Time{})
}

// An endpoint is a server behind a listener, with requests as clients of both eras send them.
type endpoint struct {
	t   *testing.T
	url string
}

func serveHTTP(t *testing.T, source resource.Source, opts runtime.ServerOptions) *endpoint {
	t.Helper()
	opts.Name, opts.Version = "test", "1"
	server, err := runtime.NewServer(source, &opts)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &endpoint{t, "http://" + listener.Addr().String() + "/mcp"}
}

// send sends a request, and leaves the body of the response open until the test ends.
func (e *endpoint) send(method, target, body, credential string, headers ...string) *http.Response {
	e.t.Helper()
	like := streamtest.Post(body, append(headers, "Authorization", credential)...)
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.url+target, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header = like.Header
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { response.Body.Close() })
	return response
}

// An answer is a response.
type answer struct {
	status int
	header http.Header
	text   string
}

func (e *endpoint) do(method, target, body, credential string, headers ...string) answer {
	e.t.Helper()
	response := e.send(method, target, body, credential, headers...)
	text, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// An era asks a server as clients of one era do.
type era struct {
	*endpoint
	credential string
	session    string // empty for the era without sessions
}

// eras are both, for a client. That with a session has one.
func (e *endpoint) eras(credential string) map[string]era {
	e.t.Helper()
	old := era{e, credential, ""}
	opened := e.do(http.MethodPost, "", initialize, credential, "MCP-Protocol-Version", "")
	if old.session = opened.header.Get("Mcp-Session-Id"); old.session == "" {
		e.t.Fatalf("no session: got %d %s", opened.status, opened.text)
	}
	old.notify(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return map[string]era{"modern": {e, credential, ""}, "session": old}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + streamtest.OldRevision +
	`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func (e era) headers() []string {
	if e.session == "" {
		return nil
	}
	return []string{"MCP-Protocol-Version", streamtest.OldRevision, "Mcp-Session-Id", e.session}
}

func (e era) notify(body string) answer {
	return e.do(http.MethodPost, "", body, e.credential, e.headers()...)
}

// call sends a request. params are members.
func (e era) call(method, params string) answer {
	body := streamtest.Body("1", method, params)
	if e.session != "" {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
	}
	return e.do(http.MethodPost, "", body, e.credential, e.headers()...)
}

func (e era) read(uri string) answer { return e.call("resources/read", fmt.Sprintf(`"uri":%q`, uri)) }

func (e era) download(uri string) answer {
	return e.do(http.MethodGet, "?uri="+url.QueryEscape(uri), "", e.credential)
}

// counting counts the calls of a source.
type counting struct {
	*mcptest.Source
	calls atomic.Int64
}

func (c *counting) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	c.calls.Add(1)
	return c.Source.List(ctx, req)
}

func (c *counting) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	c.calls.Add(1)
	return c.Source.Read(ctx, req, sink)
}

func (c *counting) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	c.calls.Add(1)
	return c.Source.Complete(ctx, req)
}

// What a client gets of a resource that is hidden from it is what it gets of one that does not exist, byte for byte but for
// the URI, and costs no call of the source.
func TestHiddenIsAsIfItDidNotExist(t *testing.T) {
	source := &counting{Source: mcptest.New()}
	for _, uri := range []string{"test://shown", "test://secret", "test://listed"} {
		source.Text(uri, "text of "+uri)
	}
	ada := identityOf(t, "ada", "list,read,watch,complete,download test://shown test://no-one", "list test://listed")
	e := serveHTTP(t, source, runtime.ServerOptions{Auth: clientsOf{"Bearer ada": ada}, Tools: true})
	for name, era := range e.eras("Bearer ada") {
		asks := map[string]func(uri string) answer{
			"read":     era.read,
			"download": era.download,
			"tool": func(uri string) answer {
				return era.call("tools/call", fmt.Sprintf(`"name":"read_resource","arguments":{"uri":%q}`, uri))
			},
		}
		for what, ask := range asks {
			if got := ask("test://shown"); got.status != 200 || !strings.Contains(got.text, "text of test://shown") {
				t.Errorf("%s, %s of a resource that is shown: got %d %s", name, what, got.status, got.text)
			}
			before := source.calls.Load()
			want := same(ask("test://absent"), "test://absent")
			for _, hidden := range []string{"test://secret", "test://listed"} {
				if got := same(ask(hidden), hidden); got != want {
					t.Errorf("%s, %s: of a hidden resource %s, of none %s", name, what, got, want)
				}
			}
			if n := source.calls.Load() - before; n != 0 {
				t.Errorf("%s, %s: the source got %d calls", name, what, n)
			}
			// of a URI that the client could see, the source says that there is none
			if got := same(ask("test://no-one"), "test://no-one"); got != want {
				t.Errorf("%s, %s: of a resource that does not exist %s, elsewhere %s", name, what, got, want)
			}
		}
		if got := era.read("test://secret"); !strings.Contains(got.text, map[string]string{"modern": "-32602", "session": "-32002"}[name]) ||
			!strings.Contains(got.text, `"uri":"test://secret"`) {
			t.Errorf("%s: got %s", name, got.text)
		}
	}
}

// same is an answer without what differs between two requests.
func same(a answer, uri string) string {
	a.header.Del("Date")
	a.header.Del("Content-Length") // the URIs differ
	return fmt.Sprint(a.status, a.header, strings.ReplaceAll(a.text, uri, "URI"))
}

// Lists, templates, completions and subscriptions have what the client may see.
func TestWhatIsShown(t *testing.T) {
	source := mcptest.New()
	for _, uri := range []string{"test://a/1", "test://a/2", "test://b/1"} {
		source.Text(uri, "text")
	}
	clients := clientsOf{
		"Bearer part":  identityOf(t, "part", "list,watch test://a/**", "list,complete greeting://A*"),
		"Bearer reads": identityOf(t, "reads", "read **"),
	}
	e := serveHTTP(t, source, runtime.ServerOptions{Auth: clients})
	complete := `"ref":{"type":"ref/resource","uri":"` + mcptest.Greeting + `"},"argument":{"name":"name","value":""}`
	for credential, want := range map[string]struct{ list, templates, complete string }{
		"Bearer part":  {"test://a/1 test://a/2", mcptest.Greeting, "Ada Alan"},
		"Bearer reads": {"", "", "-32602"},
	} {
		for name, era := range e.eras(credential) {
			for what, pair := range map[string][2]string{
				"list":      {uris(t, era.call("resources/list", "")), want.list},
				"templates": {uris(t, era.call("resources/templates/list", "")), want.templates},
				"complete":  {uris(t, era.call("completion/complete", complete)), want.complete},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s, %s, %s: got %s, want %s", credential, name, what, pair[0], pair[1])
				}
			}
		}
	}
	old := e.eras("Bearer part")["session"]
	for uri, ok := range map[string]bool{"test://a/1": true, "test://b/1": false, "test://none": false} {
		if got := old.call("resources/subscribe", fmt.Sprintf(`"uri":%q`, uri)); strings.Contains(got.text, `"result"`) != ok {
			t.Errorf("session, subscription to %s: got %s", uri, got.text)
		}
	}
	body := streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://b/1","test://a/2"]}`)
	lines := bufio.NewReader(e.send(http.MethodPost, "", body, "Bearer part").Body)
	for line := ""; ; {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "acknowledged") {
			if !strings.Contains(line, `"resourceSubscriptions":["test://a/2"]`) {
				t.Errorf("acknowledged are %s", line)
			}
			break
		}
	}
}

// uris is what an answer lists, or the code of its error.
func uris(t *testing.T, a answer) string {
	t.Helper()
	text := a.text
	if _, data, ok := strings.Cut(text, "data: "); ok { // the SDK answers by an event
		text = data
	}
	var m struct {
		Error  *struct{ Code int }
		Result struct {
			Resources         []struct{ URI string }
			ResourceTemplates []struct{ URITemplate string }
			Completion        struct{ Values []string }
		}
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if m.Error != nil {
		return fmt.Sprint(m.Error.Code)
	}
	list := m.Result.Completion.Values
	for _, r := range m.Result.Resources {
		list = append(list, r.URI)
	}
	for _, r := range m.Result.ResourceTemplates {
		list = append(list, r.URITemplate)
	}
	return strings.Join(list, " ")
}

// A client that may do nothing is told so by a status, in both eras and for downloads.
func TestWhoMayDoNothing(t *testing.T) {
	e := serveHTTP(t, mcptest.New(), runtime.ServerOptions{Auth: clientsOf{"Bearer nothing": identityOf(t, "nothing")}})
	for credential, want := range map[string]struct {
		status          int
		challenge, text string
	}{
		"":               {401, `Bearer realm="test"`, "no credential"},
		"Bearer x":       {401, `Bearer realm="test", error="invalid_token"`, "unknown"},
		"Bearer nothing": {403, "", `"data":{"code":"denied"}`},
	} {
		modern, old := era{e, credential, ""}, era{e, credential, "some"}
		for name, got := range map[string]answer{
			"modern": modern.read("test://a"), "session": old.read("test://a"), "download": modern.download("test://a"),
			"initialize": e.do(http.MethodPost, "", initialize, credential, "MCP-Protocol-Version", ""),
		} {
			if challenge := got.header.Get("WWW-Authenticate"); got.status != want.status || !strings.HasPrefix(challenge, want.challenge) ||
				(challenge == "") != (want.challenge == "") || !strings.Contains(got.text, want.text) {
				t.Errorf("%q, %s: got %d, %q, %s", credential, name, got.status, challenge, got.text)
			}
		}
	}
}

// Pages and contents that caches may share show each client what it may see, in whatever order they ask.
func TestCachesDoNotCrossRoles(t *testing.T) {
	for _, order := range [][]string{{"Bearer all", "Bearer part"}, {"Bearer part", "Bearer all"}} {
		source := mcptest.New()
		source.TTLMillis, source.CacheScope = 60_000, abi.CachePublic
		source.Text("test://a", "text of a")
		source.Text("test://b", "text of b")
		e := serveHTTP(t, source, runtime.ServerOptions{Auth: clientsOf{
			"Bearer all": identityOf(t, "all", "list,read **"), "Bearer part": identityOf(t, "part", "list,read test://a"),
		}})
		want := map[string]string{"Bearer all": "test://a test://b", "Bearer part": "test://a"}
		for range 2 {
			for _, credential := range order {
				for name, era := range e.eras(credential) {
					listed := era.call("resources/list", "")
					if got := uris(t, listed); got != want[credential] || strings.Contains(listed.text, `"cacheScope":"public"`) {
						t.Errorf("%v, %s, %s: listed are %s", order, credential, name, listed.text)
					}
					for uri, shown := range map[string]bool{"test://a": true, "test://b": credential == "Bearer all"} {
						if got := era.read(uri); strings.Contains(got.text, "text of") != shown || strings.Contains(got.text, `"cacheScope":"public"`) {
							t.Errorf("%v, %s, %s, %s: got %s", order, credential, name, uri, got.text)
						}
					}
				}
			}
		}
	}
}
