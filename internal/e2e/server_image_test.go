package e2e

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// The Containerfile of docs/deploy makes an image that serves tenants as a user without privileges, and whose program makes
// keys for them.
func TestAnImageServesTenants(t *testing.T) {
	images, work := newBuilder(t)
	images.run("", serverContext(t, work), "bud", "-q", "--isolation", "chroot", "-f", "Containerfile", "-t", "localhost/wasmres-serve", ".")
	container := images.run("", work, "from", "localhost/wasmres-serve")
	entry := strings.Fields(images.run("", work, "inspect", "--type", "image", "--format", "{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}{{range .OCIv1.Config.Cmd}}{{.}} {{end}}", "localhost/wasmres-serve"))

	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	args := []string{"--storage-driver", "vfs", "--root", images.root, "--runroot", images.root + "-run", "run", "--isolation", "chroot",
		"-v", serverConfig(t, work) + ":/etc/wasmres:ro", container, "--"}
	server := exec.CommandContext(ctx, "buildah", append(args, entry...)...)
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	server.WaitDelay = 10 * time.Second
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = server.Wait()
	}()
	lines := bufio.NewReader(log)
	endpoint := awaitLine(t, lines, `"serving","tenants":1,"url":"(http://127\.0\.0\.1:[0-9]+)/t/TENANT/mcp"`)
	awaitLine(t, lines, `("operators can connect")`)
	go func() { _, _ = io.Copy(io.Discard, lines) }()

	key := images.run("", work, "run", "--isolation", "chroot", container, "--", entry[0], "key", "new", "acme", "--role", "reader")
	for credential, want := range map[string]int{key: http.StatusNotFound, "": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/t/acme/mcp?uri=x:y", nil)
		if err != nil {
			t.Fatal(err)
		}
		if credential != "" {
			r.Header.Set("Authorization", "Bearer "+credential)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("with the key %q: status %d, want %d", credential, answer.StatusCode, want)
		}
	}
}

// awaitLine reads lines until one matches, and returns what its group is.
func awaitLine(t *testing.T, lines *bufio.Reader, pattern string) string {
	t.Helper()
	match, read := regexp.MustCompile(pattern), ""
	for {
		line, err := lines.ReadString('\n')
		if found := match.FindStringSubmatch(line); found != nil {
			return found[1]
		}
		if read += line; err != nil {
			t.Fatalf("%v: no line matches %s: %s", err, pattern, read)
		}
	}
}

// serverContext makes the folder from which the image of docs/deploy is built.
func serverContext(t *testing.T, work string) (dir string) {
	t.Helper()
	dir = filepath.Join(work, "server")
	if err := os.CopyFS(dir, os.DirFS("../../docs/deploy")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ca-certificates.crt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(guesttest.Program(t), filepath.Join(dir, "wasmres")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// serverConfig makes a folder with the settings of docs/deploy, on any port, and one tenant.
func serverConfig(t *testing.T, work string) (dir string) {
	t.Helper()
	dir = filepath.Join(work, "config")
	settings, err := os.ReadFile("../../docs/deploy/serve.yaml")
	if err != nil {
		t.Fatal(err)
	}
	settings = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).ReplaceAll(settings, []byte(`"127.0.0.1:0"`))
	if err := os.MkdirAll(filepath.Join(dir, "tenants"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"serve.yaml": string(settings), "tenants/acme.yaml": "roles:\n  reader: [{uris: [\"**\"]}]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
