package node_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/tenant"
)

const publicURL = "https://mcp.example"

// hostIssuer serves the tenant acme, with its host acme.example, to clients that sign in at an issuer. Of its notes, drafts need
// a scope, and secrets a role that tokens do not give.
func hostIssuer(t *testing.T, i *authtest.Issuer) *hosted {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	files := filepath.Join(dir, "files")
	for _, name := range []string{"note", "draft", "hidden"} {
		write(t, filepath.Join(files, name+".txt"), secretOf(name))
	}
	write(t, filepath.Join(dir, "tenants", "acme.yaml"), fmt.Sprintf(`
hosts: [acme.example]
origins: ["https://app.example"]
providers:
  memory:
    module: %q
    permissions: {storage: {allow: [{uri: "fs://%s/**", guest: /memory, access: [read]}]}, kv: {}, config: {count_lookups: "true"}}
roles:
  reader: [{uris: ["memory://context/note"]}, {uris: ["memory://context/draft"], scope: drafts}]
  owner: [{uris: ["**"]}]
  drafter: [{uris: ["memory://context/draft"], scope: drafts}]
auth:
  issuers:
    - issuer: %s
      insecure: true
      roles_claim: groups
      map: {staff: [reader], drafters: [drafter], none: [owner]}
`, guesttest.File(t, "memory"), files, i.URL))
	write(t, filepath.Join(dir, "serve.yaml"), "listen: [{address: \"127.0.0.1:0\"}]\npublic_url: "+publicURL+"\n")
	s, err := tenant.ReadSettings(filepath.Join(dir, "serve.yaml"), dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &hosted{tb: t, keys: map[string]string{}}
	n, report, err := node.Open(t.Context(), node.Config{
		Settings: s, CacheDir: guesttest.CacheDir(t), AccessLog: h.note, Version: "1", Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		t.Fatal(report.Problems)
	}
	h.Node = n
	h.serve()
	return h
}

const acmeResource = publicURL + "/t/acme/mcp"

// What clients get by their tokens, in both eras: a status, and a challenge that has certain parts.
func TestTokensInBothEras(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server and asks it very often")
	}
	i := authtest.New(t)
	h := hostIssuer(t, i)
	staff := func(changes ...any) string {
		return i.Token(acmeResource, append([]any{"groups", []string{"staff"}}, changes...)...)
	}
	h.keys["acme"] = staff()
	session := h.initialize("acme")
	const metadata = `resource_metadata="` + publicURL + `/.well-known/oauth-protected-resource/t/acme/mcp"`
	stranger := authtest.NewKey(i.Key().ID, authtest.ES256)
	for _, c := range []struct {
		name, token, note string // which is read
		status            int
		challenge         []string // none for no challenge
		body              string
	}{
		{"good", staff("jti", "2"), "note", 200, nil, secretOf("note")},
		{"with scope", staff("scope", "drafts"), "draft", 200, nil, secretOf("draft")},
		{"without scope", staff(), "draft", 403, []string{metadata, `error="insufficient_scope"`, `scope="drafts"`}, "lacks a scope"},
		{"hidden", staff(), "hidden", 0, nil, "not_found"},
		{"not there", staff(), "none", 0, nil, "not_found"},
		{"no role", i.Token(acmeResource), "note", 403, nil, "denied"},
		{"roles of scopes", i.Token(acmeResource, "groups", "drafters"), "note", 403, []string{`error="insufficient_scope"`, `scope="drafts"`}, "lacks a scope"},
		{"no token", "", "note", 401, []string{metadata, `scope="drafts"`}, "no credential"},
		{"another tenant", i.Token(publicURL+"/t/zoo/mcp", "groups", "staff"), "note", 401, []string{metadata, `error="invalid_token"`}, "unknown"},
		{"no audience", staff("aud", nil), "note", 401, []string{metadata, `error="invalid_token"`}, "unknown"},
		{"expired", staff("exp", time.Now().Unix()-60), "note", 401, []string{`error="invalid_token"`}, "expired"},
		{"alg none", authtest.Unsigned(i.Claims(acmeResource, "groups", "staff")), "note", 401, []string{`error="invalid_token"`}, "unknown"},
		{"forged", stranger.Sign(nil, i.Claims(acmeResource, "groups", "staff")), "note", 401, []string{`error="invalid_token"`}, "unknown"},
		{"an API key of nowhere", "wr_k7q2mzm5x3fd_x", "note", 401, []string{metadata, `error="invalid_token"`}, "unknown"},
	} {
		for _, in := range []string{"", session} {
			got := h.do(request{tenant: "acme", key: c.token, method: "resources/read", uri: "memory://context/" + c.note, session: in})
			challenge := got.header.Get("WWW-Authenticate")
			if c.status != 0 && got.status != c.status || !strings.Contains(got.body, c.body) || (c.challenge == nil) != (challenge == "") {
				t.Errorf("%s, session %q: got %d %q %s", c.name, in, got.status, challenge, got.body)
			}
			for _, part := range c.challenge {
				if !strings.Contains(challenge, part) {
					t.Errorf("%s, session %q: the challenge %s lacks %s", c.name, in, challenge, part)
				}
			}
			if c.token == "" && strings.Contains(challenge, "error=") {
				t.Errorf("a client without a token has made an error: %s", challenge)
			}
		}
	}
	if got := h.do(request{tenant: "acme", key: staff(), method: "resources/subscribe", uri: "memory://context/draft", session: session}); got.status != 403 {
		t.Errorf("a subscription without scope: got %d %s", got.status, got.body)
	}
	if got := h.do(request{tenant: "acme", key: staff(), uri: "memory://context/draft"}); got.status != 403 || !strings.Contains(got.header.Get("WWW-Authenticate"), "insufficient_scope") {
		t.Errorf("a download without scope: got %d %s", got.status, got.body)
	}
	list := h.do(request{tenant: "acme", key: staff(), method: "resources/list"})
	if list.status != 200 || !strings.Contains(list.body, "context/note") || strings.Contains(list.body, "draft") || strings.Contains(list.body, "hidden") {
		t.Errorf("a list has %s", list.body)
	}
	if strings.Contains(h.log.String(), h.keys["acme"]) || !strings.Contains(h.log.String(), "token refused") {
		t.Errorf("the log is\n%s", h.log.String())
	}
}

// Browsers read what they need to sign in: metadata from any origin, and the challenge from those of the tenant.
func TestPagesSignIn(t *testing.T) {
	i := authtest.New(t)
	h := hostIssuer(t, i)
	ask := func(method, path, host string, header ...string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		for n := 0; n+1 < len(header); n += 2 {
			req.Header.Set(header[n], header[n+1])
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	for _, c := range []struct {
		method, path, host string
		status             int
		resource           string
	}{
		{"GET", wellKnown + "/t/acme/mcp", "", 200, acmeResource},
		{"GET", wellKnown + "/t/acme/mcp", "evil.example", 200, acmeResource},
		{"GET", wellKnown + "/mcp", "ACME.example:99", 200, "https://acme.example/mcp"},
		{"HEAD", wellKnown + "/t/acme/mcp", "", 200, ""},
		{"OPTIONS", wellKnown + "/t/acme/mcp", "", 204, ""},
		{"POST", wellKnown + "/t/acme/mcp", "", 405, ""},
		{"GET", wellKnown + "/mcp", "other.example", 404, ""},
		{"GET", wellKnown + "/t/zoo/mcp", "", 404, ""},
		{"GET", wellKnown + "/t/acme", "", 404, ""},
		{"GET", wellKnown, "", 404, ""},
		{"GET", wellKnown + "/t/acme/mcp/..", "", 404, ""},
	} {
		resp := ask(c.method, c.path, c.host, "Origin", "https://any.example", "Access-Control-Request-Method", "GET")
		body := make([]byte, 1000)
		n, _ := resp.Body.Read(body)
		if resp.StatusCode != c.status || resp.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(string(body[:n]), c.resource) {
			t.Errorf("%s %s at %q: got %d %s %s", c.method, c.path, c.host, resp.StatusCode, resp.Header, body[:n])
		}
	}
	for _, c := range []struct {
		method, origin string
		status         int
		isAllowed      bool
	}{
		{"OPTIONS", "https://app.example", 204, true},
		{"POST", "https://app.example", 401, true},
		{"OPTIONS", "https://evil.example", 403, false},
		{"POST", "https://evil.example", 403, false},
		{"POST", "null", 403, false},
		{"POST", "https://app.example.evil.example", 403, false},
		{"POST", "http://app.example", 403, false},
	} {
		resp := ask(c.method, "/t/acme/mcp", "", "Origin", c.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,mcp-protocol-version")
		allowed := resp.Header.Get("Access-Control-Allow-Origin")
		if resp.StatusCode != c.status || (allowed == c.origin) != c.isAllowed || !c.isAllowed && allowed != "" {
			t.Errorf("%s of %s: got %d %v", c.method, c.origin, resp.StatusCode, resp.Header)
		}
		if !c.isAllowed {
			continue
		}
		exposed := resp.Header.Get("Access-Control-Expose-Headers")
		for _, name := range []string{"WWW-Authenticate", "Mcp-Session-Id", "MCP-Protocol-Version"} {
			if !strings.Contains(exposed, name) {
				t.Errorf("%s of %s: %s does not expose %s", c.method, c.origin, exposed, name)
			}
		}
		permitted := resp.Header.Get("Access-Control-Allow-Headers")
		if c.method == "OPTIONS" && (!strings.Contains(permitted, "Authorization") || !strings.Contains(permitted, "MCP-Protocol-Version")) {
			t.Errorf("a page may send %s", permitted)
		}
	}
}

// While the issuer is slow or gone, clients with known tokens do not notice, and others are told to come back.
func TestAnIssuerIsGone(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server whose issuer does not answer")
	}
	i := authtest.New(t)
	i.Set(authtest.KeysPath, authtest.Failure)
	h := hostIssuer(t, i)
	token := i.Token(acmeResource, "groups", "staff")
	note := request{tenant: "acme", key: token, method: "resources/read", uri: noteURI}
	got := h.do(note)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || got.header.Get("WWW-Authenticate") != "" {
		t.Errorf("got %d %v %s", got.status, got.header, got.body)
	}
	i.Set(authtest.KeysPath, authtest.Right)
	for deadline := time.Now().Add(time.Minute); ; {
		if got = h.do(note); got.status == http.StatusOK || time.Now().After(deadline) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	i.Set(authtest.KeysPath, authtest.Hang)
	if got = h.do(note); got.status != http.StatusOK {
		t.Errorf("a known token: got %d %s", got.status, got.body)
	}
}
