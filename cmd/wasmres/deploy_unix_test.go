//go:build unix

package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/registryserver"
)

// What operators do with versions. All that the commands say to a server is held against the description of the API.
//
// The scripts get hello.wasm, again.wasm with the same code and another digest, and those of deployModules.
func TestDeploy(t *testing.T) { runDeploy(t, nil, "deploy") }

// Versions are on trial, until the server, an operator or the time decides.
func TestCanary(t *testing.T) {
	if testing.Short() {
		t.Skip("deploys ten versions, each of which is read a hundred times")
	}
	runDeploy(t, nil, "canary")
}

// What operators see of crashes, and of what providers log.
func TestCrashesAndLogs(t *testing.T) { runDeploy(t, nil, "crashes") }

// Versions of references come from a real registry, as far as the trust policy of the server accepts them.
func TestDeployReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a registry")
	}
	host, _ := registryserver.Start(t, registryserver.Options{})
	silent, err := net.Listen("tcp", "127.0.0.1:0") // which accepts connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	alias := strings.Replace(host, "127.0.0.1", "localhost", 1)
	runDeploy(t, map[string]string{"REGISTRY": host, "ALIAS": alias, "SILENT": silent.Addr().String(), "GONE": gone.Addr().String()}, "references")
}

// A registry asks for a password, which the user of the server has. What that opens is for the files of the operator.
func TestDeployReferencesWithCredentials(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a registry")
	}
	htpasswd := filepath.Join(t.TempDir(), "htpasswd")
	const line = "ada:$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2\n" // the bcrypt hash, of cost 5, of "correct horse"
	if err := os.WriteFile(htpasswd, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	host, _ := registryserver.Start(t, registryserver.Options{Htpasswd: htpasswd})
	runDeploy(t, map[string]string{"REGISTRY": host}, "credentials")
}

func runDeploy(t *testing.T, env map[string]string, scripts ...string) {
	t.Helper()
	for i, name := range scripts {
		scripts[i] = filepath.Join("testdata", name+".txtar")
	}
	hello, modules := guesttest.Binary(t, "hello"), deployModules(t)
	modules["hello"], modules["again"] = hello, append(bytes.Clone(hello), 0, 6, 5, 'a', 'g', 'a', 'i', 'n')
	path := scriptPath(t)
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Setup: func(e *testscript.Env) error {
			e.Setenv("WASMRES_SOCKET", admintest.Validate(t, filepath.Join(e.WorkDir, "files/data/admin.sock")))
			e.Setenv("PATH", path)
			e.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			for name, value := range env {
				e.Setenv(name, value)
			}
			for name, module := range modules {
				if err := os.WriteFile(filepath.Join(e.WorkDir, name+".wasm"), module, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// deployModules returns small modules by their names: x:o is "fine" in fine, "next" in next, and crashes crash.
func deployModules(t *testing.T) map[string][]byte {
	t.Helper()
	fine := readFile(t, "../../testdata/wasm/faults.wasm")
	return map[string][]byte{
		"fine": fine, "next": bytes.Replace(fine, []byte("fine"), []byte("next"), 1),
		"crash": bytes.Replace(fine, []byte("\x41\xe1\x00"), []byte("\x41\xef\x00"), 1), // 'o' traps, and not 'a'
	}
}
