//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// A server whose other engine lies finds that out while it serves: in its log, in a metric, in the ledger and among the crashes. Clients
// get the answer of the first engine, and the tenant's plan pays for the second run.
func TestAServerFindsAnEngineThatLies(t *testing.T) {
	if testing.Short() {
		t.Skip("it links a program")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "wasmres")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs",
		"-ldflags=-s -w -X github.com/wasmres/wasmres/internal/enginename.liar=yes", "-o", program, "./cmd/wasmres")
	build.Dir, build.Env = sourcetree.Root(), append(build.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"serve.yaml": "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nwatch: false\nadmin: {listen: \"127.0.0.1:0\"}\nplans: {default: {shadow: 1}}\n",
		"tenants/acme.yaml": fmt.Sprintf("providers:\n  faults: {module: %q}\nroles: {all: [{uris: [\"**\"]}]}\nauth: {anonymous: [all]}\n",
			filepath.Join(sourcetree.Root(), "testdata", "wasm", "faults.wasm")), // small, as nothing of it is compiled yet
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "serve", "--config", filepath.Join(dir, "serve.yaml"), "--log-format", "json", "--cache-dir", t.TempDir())
	_, _, d := startRun(t, cmd)
	endpoint := d.await(t, `"msg":"serving","tenants":1,"url":"(http://127\.0\.0\.1:\d+)/t/TENANT/mcp"`)[1]
	probes := "http://" + d.await(t, `"msg":"operators can connect".*"probes":"([^"]*)"`)[1]
	if status, text := fetch(t, endpoint+"/t/acme/mcp?uri=x:o", ""); status != 200 || !strings.Contains(text, "fine") {
		t.Fatalf("got %d %s", status, text)
	}
	d.await(t, `"msg":"engines differ".*"in":"the fuel is \d+, and was \d+"`)

	o := operator{t, admintest.Validate(t, filepath.Join(dir, "data", "admin.sock"))}
	says := func(what, want string, now func() string) {
		t.Helper()
		text := now()
		for until := time.Now().Add(time.Minute); !strings.Contains(text, want) && time.Now().Before(until); text = now() {
			time.Sleep(10 * time.Millisecond)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", what, want, text)
		}
	}
	says("the page of metrics", "\nwasmres_engines_differ_total 1\n", func() string { _, text := fetch(t, probes+"/metrics", ""); return text })
	says("the list of crashes", "engines_differ", func() string { return o.run("crash list", 0, "", `\A\z`) })
	says("the ledger", "the fuel is ", func() string { return o.run("audit show --action engines.differ", 0, "", `\A\z`) })
}
