package node_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/seal"
)

// A sealed secret reaches the server that a provider asks, and nothing else: neither the provider's client, nor logs, the ledger
// and the files of the server. A new value soon takes the place of the old one. The operators' side is asked by TLS, as other
// machines do.
func TestASealedSecretReachesTheServerAlone(t *testing.T) {
	const first, second = "hunter2-hunter2-hunter2", "correct-horse-battery"
	var got atomic.Value
	asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"title": "a book", "you sent": %q}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(asked.Close)
	host, port, err := net.SplitHostPort(asked.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	dir, key := filepath.Join(base, "data"), filepath.Join(base, "secrets.key")
	if err := seal.New().WriteNew(key); err != nil {
		t.Fatal(err)
	}
	authority := certtest.NewAuthority(t)
	certtest.Write(t, authority.Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), filepath.Join(base, "cert.pem"), filepath.Join(base, "key.pem"))
	write(t, filepath.Join(dir, "tenants", "acme.yaml"), fmt.Sprintf(`providers:
  books:
    module: %q
    permissions:
      config: {server: %q, authorization: "Bearer {{secret:library}}"}
      network: {allow: [{host: %q, schemes: [http], ports: [%s], private: true, secrets: [library]}]}
      secrets: [{name: library, sealed: library-token}]
roles:
  all: [{uris: ["**"]}]
auth: {anonymous: [all]}
`, guesttest.File(t, "openapi"), asked.URL, host, port))
	at := freeAddress(t)
	write(t, filepath.Join(dir, "serve.yaml"), fmt.Sprintf("listen: [{address: \"127.0.0.1:0\"}]\nsecrets: {key: %q}\nadmin: {tls: {address: %q, cert: %q, key: %q}}\n",
		key, at, filepath.Join(base, "cert.pem"), filepath.Join(base, "key.pem")))
	var log lockedBuffer
	address, socket, end := serveFolder(t, dir, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	local := admintest.Client(t, socket)
	made, err := local.CreateAdminKey(t.Context(), admin.NewAdminKey{Name: "ada", Role: admin.TenantAdmin, Tenant: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	remote := admintest.Remote(t, admin.Remote{URL: "https://" + at, Key: made.Text, TLS: &tls.Config{RootCAs: authority.Pool()}})
	stranger := admintest.Remote(t, admin.Remote{URL: "https://" + at, Key: made.Text + "x", TLS: &tls.Config{RootCAs: authority.Pool()}})
	for range 3 {
		if _, err := stranger.Node(t.Context()); err == nil {
			t.Fatal("a bad admin key is good")
		}
	}
	books := 0
	read := func() string {
		t.Helper()
		books++ // an answer may be kept
		answer, err := http.Get("http://" + address + "/t/acme/mcp?uri=" + url.QueryEscape(fmt.Sprint("api://books/", books)))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status + " " + string(text)
	}
	if text := read(); strings.HasPrefix(text, "200") || got.Load() != nil {
		t.Errorf("without the secret: got %s", text)
	}
	if !strings.Contains(log.String(), "wasmres secret set acme library-token") {
		t.Errorf("the log does not say what to do:\n%s", log.String())
	}
	for _, value := range []string{first, second} {
		if _, err := remote.SetSecret(t.Context(), "acme", "library-token", value); err != nil {
			t.Fatal(err)
		}
		text := read()
		for until := time.Now().Add(time.Minute); got.Load() != "Bearer "+value && time.Now().Before(until); text = read() {
			time.Sleep(5 * time.Millisecond) // the provider is opened anew beside the one that serves
		}
		if !strings.HasPrefix(text, "200") || !strings.Contains(text, "a book") || got.Load() != "Bearer "+value {
			t.Errorf("got %s; the server got %v", text, got.Load())
		}
		if strings.Contains(text, value) {
			t.Errorf("the client sees the secret: %s", text)
		}
	}
	if _, err := local.SetSecret(t.Context(), "acme", "another", "value-of-another"); err != nil {
		t.Fatal(err)
	}
	before := len(ledgerOf(t, dir))
	if _, err := local.RotateSecretKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines := ledgerOf(t, dir)[before:]; len(lines) != 1 || lines[0].Action != "secret.rotate-key" || lines[0].After != "2 secrets sealed by the new key" || !strings.HasPrefix(lines[0].Actor, "uid ") {
		t.Errorf("a rotation leaves %+v", lines)
	}
	if text := read(); !strings.HasPrefix(text, "200") || got.Load() != "Bearer "+second {
		t.Errorf("after a new key: got %s", text)
	}
	end()
	refused := ledgerOf(t, dir)
	refused = slices.DeleteFunc(refused, func(l ledger.Line) bool { return l.Action != "adminkey.refuse" })
	if len(refused) != 1 || refused[0].Actor != "127.0.0.1" || refused[0].After != "3 requests within a minute" {
		t.Errorf("of bad admin keys the ledger has %+v", refused)
	}
	for _, value := range []string{first, second, made.Text} {
		if strings.Contains(log.String(), value) {
			t.Errorf("the log has the secret")
		}
		err := filepath.WalkDir(base, func(file string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(file)
			if bytes.Contains(text, []byte(value)) {
				t.Errorf("%s has the secret", file)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// freeAddress returns an address of this machine that was free just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
