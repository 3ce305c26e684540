//go:build unix

package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/authtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// Clients of run sign in at an OAuth issuer, which they find by the metadata that a refusal names.
func TestRunServesClientsThatHaveSignedIn(t *testing.T) {
	issuer := authtest.New(t)
	const audience = "https://mcp.example:8443/mcp"
	cmd := exec.Command("wasmres", "run", "--http", "127.0.0.1:0", "--issuer", issuer.URL, "--audience", audience, "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
	_, _, d := startRun(t, cmd)
	server := d.await(t, `(http://127\.0\.0\.1:\d+)/mcp`)[1]
	ask := func(path, host, token string) (*http.Response, string) {
		t.Helper()
		return fetchFrom(t, server+path, host, token)
	}
	const read = "/mcp?uri=hello://about"
	for _, host := range []string{"", "mcp.example:8443"} {
		answer, _ := ask(read, host, "")
		const metadata = `resource_metadata="https://mcp.example:8443/.well-known/oauth-protected-resource/mcp"`
		if got := answer.Header.Get("WWW-Authenticate"); answer.StatusCode != http.StatusUnauthorized || !strings.Contains(got, metadata) {
			t.Errorf("without a token, to the host %q: %s, %s", host, answer.Status, got)
		}
		answer, text := ask("/.well-known/oauth-protected-resource/mcp", host, "")
		if answer.StatusCode != http.StatusOK || !strings.Contains(text, `"resource":"`+audience+`"`) || !strings.Contains(text, issuer.URL) {
			t.Errorf("the metadata: %s %s", answer.Status, text)
		}
	}
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"good":                {issuer.Token(audience), http.StatusOK},
		"of a path":           {issuer.Token("https://mcp.example:8443/t/run/mcp"), http.StatusUnauthorized},
		"of another server":   {issuer.Token("https://other.example/mcp"), http.StatusUnauthorized},
		"expired":             {issuer.Token(audience, "exp", 1), http.StatusUnauthorized},
		"of a key":            {authtest.NewKey("first", authtest.ES256).Sign(nil, issuer.Claims(audience)), http.StatusUnauthorized},
		"without a signature": {authtest.Unsigned(issuer.Claims(audience)), http.StatusUnauthorized},
		"no token":            {"x", http.StatusUnauthorized},
	} {
		if answer, text := ask(read, "", c.token); answer.StatusCode != c.status {
			t.Errorf("a token that is %s: %s %s", name, answer.Status, text)
		}
	}
}

func TestWrongIssuersOfRun(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	if out, err := exec.Command("wasmres", "token", "new", "--name", "ada", "--uri", "**", "--tokens", tokens).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for problem, flags := range map[string][]string{
		"--audience is missing": {"--issuer", "https://id.example"},
		"--issuer is missing":   {"--audience", "https://mcp.example/mcp"},
		"is not encrypted":      {"--issuer", "http://id.example", "--audience", "https://mcp.example/mcp"},
		"write the URL at":      {"--issuer", "https://id.example", "--audience", "https://mcp.example/"},
		"excludes --tokens":     {"--issuer", "https://id.example", "--audience", "https://mcp.example/mcp", "--tokens", tokens},
	} {
		out, err := exec.Command("wasmres", append(append([]string{"run", "--http", "127.0.0.1:0"}, flags...), guesttest.File(t, "hello"))...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), problem) {
			t.Errorf("%q: %v %s", flags, err, out)
		}
	}
	out, err := exec.Command("wasmres", "run", "--issuer", "https://id.example", "--audience", "https://mcp.example/mcp", guesttest.File(t, "hello")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "add --http") {
		t.Errorf("without --http: %v %s", err, out)
	}
}
