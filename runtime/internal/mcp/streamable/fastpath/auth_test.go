package fastpath_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/accesslog"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/auth/tokens"
	"github.com/wasmres/wasmres/runtime/internal/forwarded"
	"github.com/wasmres/wasmres/runtime/internal/guard"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/mcptest"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/streamtest"
	"github.com/wasmres/wasmres/runtime/internal/ratelimit"
)

// A guarded endpoint has two clients, ada and ben, of whom ben may see fewer resources.
type guarded struct {
	*servers
	source   *mcptest.Source
	ada, ben string // headers Authorization
	file     string
	bensOnly []tokens.Token
	log      *entries
}

func newGuarded(t *testing.T, cfg streamable.Config) *guarded {
	t.Helper()
	return newGuardedBehind(t, cfg, nil)
}

// newGuardedBehind is newGuarded behind proxies.
func newGuardedBehind(t *testing.T, cfg streamable.Config, proxies *forwarded.Proxies) *guarded {
	t.Helper()
	g := &guarded{source: streamtest.Library(), file: filepath.Join(t.TempDir(), "tokens.yaml"), log: &entries{}}
	make := func(name string, uris ...string) (header string, entry tokens.Token) {
		text, id, sum := tokens.New()
		return "Bearer " + text, tokens.Token{ID: id, Name: name, SHA256: fmt.Sprintf("%x", sum), Expires: tokens.Never, URIs: uris}
	}
	var ada, ben tokens.Token
	g.ada, ada = make("ada", "**")
	g.ben, ben = make("ben", "test://1m", "test://text")
	g.bensOnly = []tokens.Token{ben}
	g.write(t, ada, ben)
	store, err := tokens.Open(g.file, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	cfg.Auth, cfg.AccessLog, cfg.AllowedHosts = store, g.log.add, []string{"mcp.test"}
	g.servers = newServersBehind(t, streamtest.NewFront(t, guard.New(g.source), mcp.Config{AccessLog: g.log.add}, cfg), nil, proxies)
	return g
}

func (g *guarded) write(t *testing.T, list ...tokens.Token) {
	t.Helper()
	if err := (&tokens.File{Version: tokens.Version, Tokens: list}).Write(g.file); err != nil {
		t.Fatal(err)
	}
}

// entries are those of an access log.
type entries struct {
	mu   sync.Mutex
	list []accesslog.Entry
}

func (e *entries) add(one accesslog.Entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, one)
}

// await waits for an entry: that of a download comes after its last byte.
func (e *entries) await(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; pause() {
		e.mu.Lock()
		n := len(e.list)
		e.mu.Unlock()
		if n > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the request has no entry")
		}
	}
}

// take gives the entries since the last call, each as one line.
func (e *entries) take() (lines []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.list {
		line := strings.Join([]string{one.Client, one.Principal, one.Method, one.URI, one.Code}, " ")
		if one.More > 0 {
			line += fmt.Sprint(" +", one.More)
		}
		lines = append(lines, line)
	}
	e.list = nil
	return lines
}

// With and without the fast path the same credentials are good, and the same are refused.
func TestCredentials(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	good := g.ada
	for name, c := range map[string]struct {
		headers []string
		ok      bool
	}{
		"good":                            {[]string{"Authorization", good}, true},
		"name in other case":              {[]string{"AUTHORIZATION", good}, true},
		"scheme in other case":            {[]string{"Authorization", "bEARER" + good[6:]}, true},
		"space around":                    {[]string{"Authorization", " \t" + good + " \t"}, true},
		"two spaces within":               {[]string{"Authorization", "Bearer  " + good[7:]}, true},
		"none":                            {nil, false},
		"empty":                           {[]string{"Authorization", " "}, false},
		"unknown":                         {[]string{"Authorization", otherEnd(good)}, false},
		"basic":                           {[]string{"Authorization", "Basic " + good[7:]}, false},
		"the same twice":                  {[]string{"Authorization", good, "+Authorization", good}, false},
		"good, then bad":                  {[]string{"Authorization", good, "+Authorization", "Bearer x"}, false},
		"bad, then good":                  {[]string{"Authorization", "Bearer x", "+Authorization", good}, false},
		"empty, then good":                {[]string{"Authorization", " ", "+Authorization", good}, false},
		"of a proxy":                      {[]string{"Proxy-Authorization", good, "X-Authorization", good}, false},
		"as a cookie":                     {[]string{"Cookie", "Authorization=" + good}, false},
		"folded":                          {[]string{"Authorization", "Bearer\r\n " + good[7:]}, true}, // net/http unfolds it
		"space before the colon":          {[]string{"Authorization ", good}, false},
		"underscore":                      {[]string{"Authorization_", good}, false},
		"huge":                            {[]string{"Authorization", good + strings.Repeat(" ", 3000) + strings.Repeat("x", 3000)}, false},
		"in a trailer that does not come": {[]string{"Trailer", "Authorization"}, false},
		"with a control":                  {[]string{"Authorization", good + "\x01"}, false},
		"with a NUL":                      {[]string{"Authorization", good + "\x00"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			session := strings.TrimSpace(openAs(t, g.standard, good))
			requests := map[string]string{
				"modern": modernRead("test://text", c.headers...), "session": sessionRead("1", "test://text", c.headers...),
				"download": raw("GET /mcp?uri=test://text HTTP/1.1", "", c.headers...),
			}
			for kind, request := range requests {
				p := probe{name: kind, request: request}
				g.compare(t, p, session)
				got := p.run(t, g.fast, session)
				if ok := strings.HasPrefix(got, "200 ") && strings.Contains(got, "hello"); ok != c.ok {
					t.Errorf("%s: got %.300s", kind, got)
				}
			}
		})
	}
}

// otherEnd returns a credential with another last character.
func otherEnd(credential string) string {
	last := len(credential) - 1
	if credential[last] == '0' {
		return credential[:last] + "1"
	}
	return credential[:last] + "0"
}

// openAs opens a session with a credential.
func openAs(t *testing.T, addr, authorization string) string {
	t.Helper()
	c := dial(t, addr)
	io.WriteString(c.conn, raw(postLine, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+streamtest.OldRevision+
		`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "Authorization", authorization))
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r.Body)
	id := r.Header.Get("Mcp-Session-Id")
	io.WriteString(c.conn, raw(postLine, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"Mcp-Session-Id", id, "MCP-Protocol-Version", streamtest.OldRevision, "Authorization", authorization))
	if answer, _ := c.answer("POST"); !strings.HasPrefix(answer, "202 ") || id == "" {
		t.Fatalf("session %q: got %s", id, answer)
	}
	for answer := ""; !strings.Contains(answer, "application/json"); { // the notification is handled a little later
		io.WriteString(c.conn, strings.ReplaceAll(sessionRead("0", "test://text", "Authorization", authorization), sessionMark, id))
		var closed bool
		if answer, closed = c.answer("POST"); closed {
			t.Fatalf("session %q: got %s", id, answer)
		}
	}
	return id
}

// The challenge names the scheme, and an error only if a credential was sent.
func TestChallenge(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	for header, want := range map[string]string{
		"": `Bearer realm="wasmres"`,
		"Bearer x": `Bearer realm="wasmres", error="invalid_token", ` +
			`error_description="the token is unknown, malformed, expired or revoked"`,
	} {
		c := dial(t, g.fast)
		io.WriteString(c.conn, modernRead("test://text", "Authorization", header))
		r, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header["Www-Authenticate"]; r.StatusCode != http.StatusUnauthorized || len(got) != 1 || got[0] != want {
			t.Errorf("%q: status %d, %q", header, r.StatusCode, got)
		}
	}
}

// On one connection, as a proxy has it for many clients, each request is that of its own client.
func TestAConnectionOfSeveralClients(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	const hidden = `"Resource not found"`
	c := dial(t, g.fast)
	before := g.netHTTP.Load()
	for i, step := range []struct{ header, uri, want string }{
		{g.ada, "test://café", "coffee"}, {g.ben, "test://text", "hello"}, {g.ben, "test://caf%C3%A9", hidden},
		{g.ada, "test://text", "hello"}, {g.ben, "test://slow", hidden}, {g.ada, "test://slow", "done"}, {g.ben, "test://none", hidden},
	} {
		body := streamtest.Body("1", "resources/read", fmt.Sprintf(`"uri":%q`, step.uri))
		name := step.uri
		if strings.Contains(name, "é") {
			name = "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
		}
		io.WriteString(c.conn, modern("resources/read", name, body, "Authorization", step.header))
		if got, _ := c.answer("POST"); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, step.want) {
			t.Errorf("step %d: got %s", i, got)
		}
	}
	if n := g.netHTTP.Load() - before; n != 1 { // the encoded name
		t.Errorf("net/http has answered %d requests", n)
	}
	io.WriteString(c.conn, modernRead("test://text"))
	if got, _ := c.answer("POST"); !strings.HasPrefix(got, "401 ") {
		t.Errorf("without a credential: got %s", got)
	}
}

// A revoked token is refused on the connection on which it was good.
func TestARevokedTokenIsRefused(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	session := openAs(t, g.fast, g.ada)
	c := dial(t, g.fast)
	ask := func(request string) string {
		io.WriteString(c.conn, strings.ReplaceAll(request, sessionMark, session))
		got, closed := c.answer("POST")
		if closed {
			t.Fatal(got)
		}
		return got
	}
	requests := []string{modernRead("test://text", "Authorization", g.ada), sessionRead("1", "test://text", "Authorization", g.ada)}
	for _, request := range requests {
		if got := ask(request); !strings.HasPrefix(got, "200 ") {
			t.Fatal(got)
		}
	}
	g.write(t, g.bensOnly...)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		first, second := ask(requests[0]), ask(requests[1])
		if strings.HasPrefix(first, "401 ") && strings.HasPrefix(second, "401 ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("got %s and %s", first, second)
		}
	}
	if got := ask(modernRead("test://text", "Authorization", g.ben)); !strings.HasPrefix(got, "200 ") {
		t.Errorf("the other token: got %s", got)
	}
}

// The streams of a revoked token end: that of a subscription with its result.
func TestARevokedTokenEndsStreams(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	session := openAs(t, g.fast, g.ada)
	listen := streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://text"],"resourcesListChanged":true}`)
	for name, c := range map[string]struct{ request, first, last string }{
		"subscription": {modern("subscriptions/listen", "", listen, "Authorization", g.ada), "acknowledged", `"resultType":"complete"`},
		"session": {raw("GET /mcp HTTP/1.1", "", "Accept", "text/event-stream", "Content-Type", "", "Authorization", g.ada,
			"Mcp-Session-Id", session, "MCP-Protocol-Version", streamtest.OldRevision), ": ok", ""},
	} {
		for kind, addr := range map[string]string{"fast": g.fast, "standard": g.standard} {
			if name == "session" && kind == "standard" {
				continue // a session has one stream
			}
			conn := dial(t, addr)
			io.WriteString(conn.conn, c.request)
			r, err := http.ReadResponse(conn.in, nil)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("%s: %v, %v", name, r, err)
			}
			lines := bufio.NewReader(r.Body)
			for line := ""; !strings.Contains(line, c.first); {
				if line, err = lines.ReadString('\n'); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			defer func() {
				rest, err := io.ReadAll(lines)
				if err != nil || !strings.Contains(string(rest), c.last) {
					t.Errorf("%s, %s: the stream ended with %v and %s", name, kind, err, rest)
				}
			}()
		}
	}
	if n := g.source.Watchers(); n != 3 { // that of the session's list, and two of the streams
		t.Errorf("%d watches, want 3", n)
	}
	g.write(t, g.bensOnly...)
	g.source.AwaitWatchers(0)
}

// A session belongs to its principal. To others it does not exist.
func TestSessionsOfOthers(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	session := openAs(t, g.fast, g.ada)
	for name, request := range map[string]string{
		"read":         sessionRead("1", "test://text", "Authorization", g.ben),
		"subscription": inSession(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://text"}}`, "Authorization", g.ben),
		"stream":       raw("GET /mcp HTTP/1.1", "", "Accept", "text/event-stream", "Mcp-Session-Id", session, "Authorization", g.ben),
		"end":          raw("DELETE /mcp HTTP/1.1", "", "Mcp-Session-Id", session, "Authorization", g.ben),
	} {
		for _, addr := range []string{g.fast, g.standard} {
			if got := (probe{request: request}).run(t, addr, session); !strings.HasPrefix(got, "404 ") {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
	own := probe{request: sessionRead("1", "test://text", "Authorization", g.ada)}
	if got := own.run(t, g.fast, session); !strings.HasPrefix(got, "200 ") {
		t.Errorf("afterwards the owner gets %s", got)
	}
}

func rate(t *testing.T, perSecond float64, burst int) *ratelimit.Limiter {
	t.Helper()
	l, err := ratelimit.New(perSecond, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A client beyond its rate is told when to retry. Other clients are not affected.
func TestRate(t *testing.T) {
	const burst = 12
	g := newGuarded(t, streamable.Config{Admission: rate(t, 1e-3, burst)})
	session := openAs(t, g.fast, g.ada)
	answers := func(request, header string) string {
		c := dial(t, g.fast)
		io.WriteString(c.conn, strings.ReplaceAll(request, sessionMark, session))
		text, _ := c.answer(strings.Fields(request)[0])
		return text
	}
	read := modernRead("test://text", "Authorization", g.ada)
	allowed := 0
	for ; strings.Contains(answers(read, ""), "hello"); allowed++ {
		if allowed > burst {
			t.Fatal("there is no limit")
		}
	}
	if allowed < burst-6 { // the session has used some
		t.Errorf("%d requests were allowed", allowed)
	}
	const limited = `"code":429,"message":"Too many requests, try again later","data":{"code":"limited","limit":"requests","of":"principal","retryAfterMs":`
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`
	for name, c := range map[string]struct{ request, status, want string }{
		"modern":       {read, "200 ", `{"jsonrpc":"2.0","id":1,"error":{` + limited},
		"session":      {sessionRead("7", "test://text", "Authorization", g.ada), "200 ", `{"jsonrpc":"2.0","id":7,"error":{` + limited},
		"initialize":   {raw(postLine, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}`, "Authorization", g.ada), "200 ", limited},
		"batch":        {inSession(batch, "Authorization", g.ada), "429 ", limited},
		"no JSON":      {inSession(`{`, "Authorization", g.ada), "429 ", limited},
		"download":     {raw("GET /mcp?uri=test://text HTTP/1.1", "", "Authorization", g.ada), "429 ", "Retry-After:["},
		"stream":       {raw("GET /mcp HTTP/1.1", "", "Mcp-Session-Id", session, "Authorization", g.ada), "429 ", limited},
		"notification": {inSession(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "Authorization", g.ada), "202 ", ""},
		"other client": {modernRead("test://text", "Authorization", g.ben), "200 ", "hello"},
	} {
		if got := answers(c.request, ""); !strings.HasPrefix(got, c.status) || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s", name, got)
		}
	}
	statuses := map[string]int{}
	for range burst + 1 {
		statuses[answers(modernRead("test://text", "Authorization", "Bearer x"), "")[:3]]++
	}
	if statuses["401"] != burst || statuses["429"] != 1 {
		t.Errorf("wrong credentials got %v", statuses)
	}
}

// A batch is as many requests as it has messages.
func TestRateOfABatch(t *testing.T) {
	h := streamtest.NewFront(t, streamtest.Library(), mcp.Config{}, streamable.Config{Admission: rate(t, 1e-3, 5)})
	for items, want := range map[int]string{3: "400", 30: "429"} {
		body := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, items), ",") + "]"
		status, _, answer := streamtest.Do(h, streamtest.Post(body, "MCP-Protocol-Version", streamtest.OldRevision, "Host", "localhost"))
		if fmt.Sprint(status) != want {
			t.Errorf("%d messages: status %d, %s", items, status, answer)
		}
	}
}

// Each request has one entry, whichever way it takes.
func TestAccessLog(t *testing.T) {
	g := newGuarded(t, streamable.Config{Admission: rate(t, 1e-3, 1000)})
	session := openAs(t, g.fast, g.ben)
	g.log.take()
	ada, ben := []string{"Authorization", g.ada}, []string{"Authorization", g.ben}
	listen := streamtest.Body("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["test://text","test://1m","no URI"]}`)
	complete := `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"` + mcptest.Greeting +
		`"},"argument":{"name":"name","value":""}}}`
	tool := `"name":"read_resource","arguments":{"uri":"test://none"}`
	for name, c := range map[string]struct{ request, want string }{
		"list":       {modern("resources/list", "", streamtest.Body("1", "resources/list", ""), ada...), "127.0.0.1 ada resources/list  ok"},
		"templates":  {modern("resources/templates/list", "", streamtest.Body("1", "resources/templates/list", ""), ben...), "127.0.0.1 ben resources/templates/list  ok"},
		"read":       {modernRead("test://text", ada...), "127.0.0.1 ada resources/read test://text ok"},
		"hidden":     {modernRead("test://slow", ben...), "127.0.0.1 ben resources/read test://slow not_found"},
		"long":       {modernRead("test://1m", ben...), "127.0.0.1 ben resources/read test://1m ok"},
		"crash":      {modernRead("test://trap", ada...), "127.0.0.1 ada resources/read test://trap trap"},
		"no URI":     {modernRead("nothing", ada...), "127.0.0.1 ada resources/read nothing invalid_params"},
		"complete":   {modern("completion/complete", "", strings.Replace(complete, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},`, 1), ada...), "127.0.0.1 ada completion/complete " + mcptest.Greeting + " ok"},
		"tool":       {modern("tools/call", "read_resource", streamtest.Body("1", "tools/call", tool), ada...), "127.0.0.1 ada tools/call test://none not_found"},
		"unknown":    {modern("prompts/list", "", streamtest.Body("1", "prompts/list", ""), ada...), "127.0.0.1 ada prompts/list  -32601"},
		"in session": {sessionRead("1", "test://text", ben...), "127.0.0.1 ben resources/read test://text ok"},
		"subscribe":  {inSession(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://text"}}`, ben...), "127.0.0.1 ben resources/subscribe test://text ok"},
		"subscribe to a hidden": {inSession(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://slow"}}`, ben...),
			"127.0.0.1 ben resources/subscribe test://slow -32002"},
		"complete in session": {inSession(complete, ben...), "127.0.0.1 ben completion/complete " + mcptest.Greeting + " invalid_params"},
		"download":            {raw("GET /mcp?uri=test://text HTTP/1.1", "", ada...), "127.0.0.1 ada download test://text ok"},
		"no download":         {raw("GET /mcp?uri=test://slow HTTP/1.1", "", ben...), "127.0.0.1 ben download test://slow not_found"},
		"no credential":       {modernRead("test://text"), "127.0.0.1  POST  unauthorized"},
		"listen":              {modern("subscriptions/listen", "", listen, ada...), "127.0.0.1 ada subscriptions/listen test://text ok +1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, addr := range []string{g.fast, g.standard} {
				conn := dial(t, addr)
				io.WriteString(conn.conn, strings.ReplaceAll(c.request, sessionMark, session))
				if name == "listen" {
					if _, err := http.ReadResponse(conn.in, nil); err != nil {
						t.Fatal(err)
					}
				} else {
					conn.answer(strings.Fields(c.request)[0])
				}
				g.log.await(t)
				if got := g.log.take(); len(got) != 1 || got[0] != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

// The entries say how long answers are.
func TestAccessLogCountsBytes(t *testing.T) {
	g := newGuarded(t, streamable.Config{})
	for name, request := range map[string]string{
		"short": modernRead("test://text", "Authorization", g.ada), "long": modernRead("test://1m", "Authorization", g.ada),
		"download": raw("GET /mcp?uri=test://1m HTTP/1.1", "", "Authorization", g.ada), "error": modernRead("test://none", "Authorization", g.ada),
	} {
		conn := dial(t, g.fast)
		io.WriteString(conn.conn, request)
		r, err := http.ReadResponse(conn.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			t.Fatal(err)
		}
		g.log.await(t)
		g.log.mu.Lock()
		if got := g.log.list[0].Bytes; got != n {
			t.Errorf("%s: %d bytes, want %d", name, got, n)
		}
		g.log.list = nil
		g.log.mu.Unlock()
	}
}

// A credential that is good, but permits nothing, is refused with a status of its own, in all revisions.
func TestACredentialThatPermitsNothing(t *testing.T) {
	permitsNothing := authenticator{auth.NewIdentity(t.Context(), abi.Principal{Subject: "ada"}, nil, time.Time{})}
	source, log := streamtest.Library(), &entries{}
	front := streamtest.NewFront(t, guard.New(source), mcp.Config{}, streamable.Config{Auth: permitsNothing, AccessLog: log.add})
	sv := newServers(t, front, nil)
	for name, request := range map[string]string{
		"modern": modernRead("test://text"), "session": sessionRead("1", "test://text"),
		"initialize": raw(postLine, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`),
		"download":   raw("GET /mcp?uri=test://text HTTP/1.1", ""),
	} {
		for _, addr := range []string{sv.fast, sv.standard} {
			got := (probe{request: request}).run(t, addr, "x")
			if !strings.HasPrefix(got, "403 ") || !strings.Contains(got, `"code":403`) || !strings.Contains(got, `"data":{"code":"denied"}`) {
				t.Errorf("%s: got %s", name, got)
			}
		}
		for _, line := range log.take() {
			if !strings.Contains(line, " ada ") || !strings.HasSuffix(line, " denied") {
				t.Errorf("%s: the access log has %s", name, line)
			}
		}
	}
}

// An authenticator takes every client for one.
type authenticator struct{ identity *auth.Identity }

func (a authenticator) Authenticate(auth.Credential) (*auth.Identity, error) { return a.identity, nil }

func (authenticator) Challenge(string) string { return "Bearer" }
