package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// redirectURI is where the issuer sends the browser of a user back to; the browser of the tests does not go there.
const redirectURI = "http://localhost:9999/auth/callback"

// The official client signs in by its own OAuth flow, at a provider of other people, with tokens of both kinds, in both eras.
func TestClientsSignIn(t *testing.T) {
	needTools(t)
	t.Parallel()
	bin, provider := guesttest.Program(t), filepath.Join(t.TempDir(), "issuer")
	build := exec.Command("go", "build", "-o", provider, "./issuer")
	build.Dir = filepath.Join("..", "peers")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, kind := range []string{"jwt", "opaque"} {
		issuer := startIssuer(t, provider, kind)
		url := serveTenant(t, bin, signInTenant(t, issuer, kind))
		for _, era := range []string{"legacy", "auto", "2026-07-28"} {
			t.Run(kind+" "+era, func(t *testing.T) {
				client, secret := "app", ""
				if kind == "opaque" {
					client, secret = "api", "secret" // the provider tells a server of tokens for that server alone
				}
				out, err := script(t, time.Minute, "signin.mjs", era, url, client, secret, redirectURI)
				t.Log(out)
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// startIssuer starts the provider until the test ends, and returns its URL.
func startIssuer(t *testing.T, program, kind string) string {
	t.Helper()
	cmd := exec.Command(program, kind, redirectURI)
	cmd.Stderr = io.Discard
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	url := awaitLine(t, lines, `^(http://127\.0\.0\.1:[0-9]+)\n`)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
	})
	return url
}

// signInTenant makes a folder with a server's settings and a tenant whose clients sign in at an issuer.
func signInTenant(t *testing.T, issuer, kind string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	notes := filepath.Join(dir, "notes")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	audience, ask := "app", ""
	if kind == "opaque" {
		audience, ask = "api", "introspection: {client_id: api, secret_file: secret}"
	}
	for name, text := range map[string]string{
		"notes/note.txt": "a note", "notes/draft.txt": "a draft", "tenants/secret": "secret\n",
		"serve.yaml": fmt.Sprintf("listen: [{address: %q}]\n", address),
		"tenants/acme.yaml": fmt.Sprintf(`
providers:
  memory:
    module: %q
    permissions: {storage: {allow: [{uri: "fs://%s/**", guest: /memory, access: [read]}]}, kv: {}}
roles:
  reader: [{uris: ["memory://context/note"]}, {uris: ["memory://context/draft"], scope: drafts}]
auth:
  scopes: [openid]
  issuers: [{issuer: %q, insecure: true, audiences: [%s], typ: [JWT], roles: [reader], %s}]
`, guesttest.File(t, "memory"), notes, issuer, audience, ask),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serveTenant serves the tenant of a folder until the test ends, and returns the URL of its endpoint.
func serveTenant(t *testing.T, bin, dir string) string {
	t.Helper()
	cmd := exec.Command(bin, "serve", "--config", filepath.Join(dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(t))
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("wasmres: %v\n%s", err, rest)
		}
	})
	url := awaitLine(t, lines, `Serving 1 tenant at (http://127\.0\.0\.1:[0-9]+)/t/`)
	return strings.TrimSpace(url) + "/t/acme/mcp"
}
