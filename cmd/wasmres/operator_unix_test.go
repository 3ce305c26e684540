//go:build unix

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// A server with all that an operator can ask for: HTTPS, certificates of clients, tokens, a rate and an access log.
func TestAServerForOthers(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	ca := certtest.NewAuthority(t)
	certtest.Write(t, ca.Issue(t, &x509.Certificate{}), in("cert.pem"), in("key.pem"))
	certtest.WriteCert(t, ca.Cert, in("ca.pem"))
	ada := makeToken(t, in("tokens.yaml"), "ada", "**")
	ben := makeToken(t, in("tokens.yaml"), "ben", "hello://about")
	cmd := exec.Command("wasmres", "run", "--http", "0.0.0.0:0", "--tokens", in("tokens.yaml"),
		"--tls-cert", in("cert.pem"), "--tls-key", in("key.pem"), "--tls-client-ca", in("ca.pem"), "--rate", "1/h", "--rate-burst", "4",
		"--access-log", in("access.log"), "--access-log-format", "json", "--cache-dir", guesttest.CacheDir(t), guesttest.File(t, "hello"))
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, "Serving MCP at (http[^ ]+)")[1]
	if !strings.HasPrefix(endpoint, "https://127.0.0.1:") {
		t.Fatalf("it serves at %s", endpoint)
	}
	own := ca.Issue(t, &x509.Certificate{Subject: certtest.Name("laptop")})
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{own}}, ForceAttemptHTTP2: true,
	}}
	get := func(token, uri string) string {
		r, err := http.NewRequest(http.MethodGet, endpoint+"?uri="+uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %d %.60s", response.Proto, response.StatusCode, body)
	}
	for _, step := range []struct{ token, uri, want string }{
		{ada, "hello://about", "HTTP/2.0 200 "}, {ben, "hello://about", "HTTP/2.0 200 "},
		{ada, "greeting://Ada", "HTTP/2.0 200 "}, {ben, "greeting://Ada", "HTTP/2.0 404 "},
		{"", "hello://about", "HTTP/2.0 401 "}, {ada + "x", "hello://about", "HTTP/2.0 401 "},
		{ben, "hello://about", "200 "}, {ben, "hello://about", "200 "}, {ben, "hello://about", "HTTP/2.0 429 "},
	} {
		if got := get(step.token, step.uri); !strings.Contains(got, step.want) {
			t.Errorf("%.8s reads %s: got %s, want %s", step.token, step.uri, got, step.want)
		}
	}
	bare := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}}}
	if response, err := bare.Get(endpoint); err == nil {
		t.Errorf("without a certificate: status %d", response.StatusCode)
	}
	if out, err := exec.Command("wasmres", "token", "revoke", "--tokens", in("tokens.yaml"), "ada").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(get(ada, "hello://about"), " 401 "); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a revoked token is good")
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	status, said := endOfRun(t, cmd, d)
	log, err := os.ReadFile(in("access.log"))
	if err != nil || status != 130 && status != 0 {
		t.Fatalf("it ends with %d, %v, and says\n%s", status, err, said)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(log)) {
		var e struct{ Time, Client, Principal, Method, URI, Code string }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Client != "127.0.0.1" {
			t.Errorf("%v: %s", err, line)
		}
		counts[strings.Join([]string{e.Principal, e.Method, e.URI, e.Code}, " ")]++
	}
	for want, n := range map[string]int{
		"ada download greeting://Ada ok": 1, "ben download greeting://Ada not_found": 1, "ben download hello://about ok": 3,
		"ben GET  limited": 1,
	} {
		if counts[want] != n {
			t.Errorf("%d lines of %q, want %d:\n%s", counts[want], want, n, log)
		}
	}
	for _, secret := range []string{ada, ben, ada[20:], ben[20:]} {
		if strings.Contains(said, secret) || strings.Contains(string(log), secret) {
			t.Error("a log has a token")
		}
	}
}

// makeToken makes a token with the program.
func makeToken(t *testing.T, file, name, uri string) string {
	t.Helper()
	out, err := exec.Command("wasmres", "token", "new", "--tokens", file, "--name", name, "--uri", uri).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
