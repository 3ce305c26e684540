package e2e

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
	"github.com/wasmres/wasmres/internal/certificate/certtest"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// hostileMarkdown is what an author of a resource may try with the browsers of others.
const hostileMarkdown = "# A note\n\n<script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>\n\n[click](javascript:alert(1)) " +
	"![pixel](https://evil.example/p.png) [data](data:text/html,<script>alert(1)</script>) \u202egnp.exe\n\n| a | b |\n|--:|:--|\n| <iframe src=x> | `<script>` |\n"

var writePictures = flag.Bool("pictures", false, "make the pictures of docs/pictures")

// Real people's pages in a real browser: errors of scripts, what the policy of the page refuses, labels, contrast, the keyboard,
// small windows, and the same without scripts.
func TestPagesInChromium(t *testing.T) {
	needTools(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not installed: install Debian's package chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dashboard, key := serveDashboard(t)
	notes := t.TempDir()
	file := filepath.Join(notes, "note.md")
	if err := os.WriteFile(file, []byte(hostileMarkdown), 0o644); err != nil {
		t.Fatal(err)
	}
	viewer := began(t, "http://", "run", "--ui", "--dir", notes+":/project:ro", guesttest.File(t, "project"))
	given, err := json.Marshal(map[string]string{
		"chromium": chromium, "dashboard": dashboard, "key": key, "version": "/tenants/acme/providers/notes/versions/2",
		"viewer": viewer, "resource": "project://file/note.md", "file": file,
		"picture": filepath.Join("..", "..", "docs", "pictures", "version"), "write": map[bool]string{true: "yes"}[*writePictures],
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(ctx, node, "pages.mjs", string(given)).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// serveDashboard serves tenants, one of which has a version that waits for an approval, and returns the URL of the pages and an
// admin key.
func serveDashboard(t *testing.T) (url, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	address := "127.0.0.1:" + freePort(t)
	certtest.Write(t, certtest.NewAuthority(t).Issue(t, &x509.Certificate{Subject: certtest.Name("server")}), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	config := write("serve.yaml", "listen: [{address: \"127.0.0.1:0\"}]\ndata: data\nadmin: {tls: {address: \""+address+"\", cert: cert.pem, key: key.pem}}\n")
	write("tenants/acme.yaml", "providers:\n  notes: {}\n  everything:\n    module: "+guesttest.File(t, "everything")+"\nroles:\n  reader: [{do: [list, read], uris: [\"**\"]}]\n")
	write("tenants/broken.yaml", "providers: [<script>alert(1)</script>\u202e\n")
	policy := write("policy.yaml", "version: \"1.0\"\npermissions: {network: {allow: [{host: api.example.org}]}}\n")
	began(t, "Serving ", "serve", "--config", config)
	socket := admintest.Validate(t, filepath.Join(dir, "data", admin.SocketName))
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(guesttest.Program(t), append(args, "--socket", socket)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, stderr.String())
		}
		return string(out)
	}
	run("deploy", "acme/notes", guesttest.File(t, "hello"), "--wait")
	run("deploy", "acme/notes", guesttest.File(t, "hello"), "--policy", policy, "--wait")
	run("key", "new", "acme", "--name", "ada", "--role", "reader")
	key = strings.TrimSpace(run("admin-key", "new", "ada", "--role", "operator"))
	return "https://" + address + "/ui", key
}

// began starts the program, and returns the first line of its standard error that begins with a text, without that text unless it
// is the beginning of a URL. The program ends with the test.
func began(t *testing.T, prefix string, args ...string) string {
	t.Helper()
	cmd := exec.Command(guesttest.Program(t), args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := make(chan string, 1)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(stderr)
		for in.Scan() {
			if strings.HasPrefix(in.Text(), prefix) {
				lines <- in.Text()
				break
			}
		}
		for in.Scan() { // so that the program is not kept waiting
		}
	}()
	select {
	case line := <-lines:
		if line == "" {
			t.Fatalf("%v: the program has ended", args)
		}
		return line
	case <-time.After(2 * time.Minute):
		t.Fatalf("%v: the program has said nothing", args)
		return ""
	}
}
