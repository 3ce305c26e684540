package session_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/project"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
	"github.com/wasmres/wasmres/runtime/capability/httpcap"
	"github.com/wasmres/wasmres/runtime/capability/sqlcap"
)

// TestPythonLibrary runs cases of the library in the sandbox and in CPython, which say the same. Both use one folder, one
// database and one server.
func TestPythonLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and compiles a provider")
	}
	source, err := filepath.Abs("../../testdata/pythonlib")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(server.Close)
	c := cpython{source: source, dir: t.TempDir(), url: server.URL}
	c.run(t, "prepare.py")
	p := openLibrary(t, c)
	files, err := filepath.Glob(source + "/case_*.py")
	if err != nil || len(files) < 8 {
		t.Fatalf("got %d files of cases, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.run(t, "run.py", name), readText(t, p, "case://"+name)); diff != "" {
				t.Errorf("CPython -, wasmres +:\n%s", diff)
			}
		})
	}
	t.Run("clients", func(t *testing.T) {
		t.Parallel()
		if got := readText(t, p, "case://clients"); got[0] != "as they should" {
			t.Errorf("got %q", got)
		}
	})
}

// openLibrary builds the provider that runs the cases, and grants it what they use.
func openLibrary(t *testing.T, c cpython) *runtime.Provider {
	t.Helper()
	module := packed(t, c.source, project.Python)
	files, err := fscap.Open([]fscap.Grant{{Host: filepath.Join(c.dir, "data"), Guest: "/data", Access: fscap.ReadWrite}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := sqlcap.ParseDSN("sqlite:" + filepath.Join(c.dir, "data", "main.db"))
	if err != nil {
		t.Fatal(err)
	}
	databases, err := sqlcap.Open(sqlcap.Config{Connections: map[string]sqlcap.Connection{"main": {DSN: dsn}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	web, err := httpcap.Open(httpcap.Config{Rules: []httpcap.Rule{ruleFor(t, c.url)}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := inProcess(t).Load(t.Context(), module, &runtime.Options{
		Capabilities: []capability.Capability{files, databases, web},
		Values:       map[string]string{"env:LIBRARY_TEST": "granted", "env:LIBRARY_URL": c.url},
		Limits:       runtime.Limits{Timeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func ruleFor(t *testing.T, text string) httpcap.Rule {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddrPort(u.Host)
	return httpcap.Rule{
		Scheme: "http", Host: address.Addr().String(), Ports: []uint16{address.Port()},
		Methods: []string{"GET", "POST", "PUT"}, Private: true,
	}
}

// echo answers with what it was asked, or with the status that the path names.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/lines" {
		io.WriteString(w, "a\nbé\nc") //nolint:errcheck // the client sees what is missing
		return
	}
	headers := map[string]string{}
	for _, name := range []string{"Content-Type", "X-A", "X-B", "Authorization", "Cookie"} {
		if value := r.Header.Get(name); value != "" {
			headers[strings.ToLower(name)] = value
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/")); err == nil {
		w.WriteHeader(status)
	}
	json.NewEncoder(w).Encode(map[string]any{ //nolint:errcheck // the client sees what is missing
		"method": r.Method, "uri": r.URL.String(), "body": string(body), "headers": headers,
	})
}

func readText(t *testing.T, p *runtime.Provider, uri string) []string {
	t.Helper()
	contents, err := p.Read(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(contents[0].Text(), "\n")
}

// A cpython runs files of source in dir.
type cpython struct{ source, dir, url string }

// run returns the lines that a file prints.
func (c cpython) run(t *testing.T, file string, args ...string) []string {
	t.Helper()
	python := guesttest.Python(t, "tomllib") // which versions before 3.11 lack: their messages differ
	cmd := exec.CommandContext(t.Context(), python, append([]string{"-B", filepath.Join(c.source, file)}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(cmd.Environ(), "TZ=UTC", "PYTHONUTF8=1", "LIBRARY_TEST=granted", "LIBRARY_URL="+c.url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	return strings.Split(string(out), "\n")
}
