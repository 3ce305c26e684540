package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/keyringtest"
)

// TestKeyring has a provider send a secret of the keyring to a server.
func TestKeyring(t *testing.T) {
	const token = "hunter2-hunter2"
	session, err := keyringtest.Start()
	if errors.Is(err, keyringtest.ErrMissing) {
		guesttest.Missing(t, "no keyring: install %s: %v", keyringtest.Packages, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the script runs on when this function has ended
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := session.Store("example.org", "ada", token); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "who is it?", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "it is %s\n", token)
	}))
	t.Cleanup(server.Close)
	certificate := filepath.Join(t.TempDir(), "certificate.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
	path := scriptPath(t)
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/keyring.txtar"},
		Setup: func(env *testscript.Env) error {
			for _, v := range session.Environ() {
				if name, value, _ := strings.Cut(v, "="); name != "PATH" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("WEB", guesttest.File(t, "web"))
			env.Setenv("PATH", path)
			env.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("ORIGIN", server.URL)
			env.Setenv("SSL_CERT_FILE", certificate)
			return nil
		},
	})
}
