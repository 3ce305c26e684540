package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/guesttest"
)

// dockerfile is the first one in docs/images.md: that of an image of wasmres.
var dockerfile = regexp.MustCompile("(?s)```dockerfile\n(.*?)```")

// A builder builds images with buildah, which needs no daemon.
type builder struct {
	t    *testing.T
	root string
}

// newBuilder gives what builds images in parallel with other tests, and a folder for its files.
func newBuilder(t *testing.T) (images builder, work string) {
	t.Helper()
	if os.Getenv("WASMRES_E2E") == "" {
		t.Skip("SKIPPED: this builds images: 'make e2e' runs it")
	}
	t.Parallel()
	if _, err := exec.LookPath("buildah"); err != nil && os.Getenv("WASMRES_TOOLCHAINS") != "all" {
		t.Skip("SKIPPED: buildah is not installed")
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: buildah without a user namespace needs root")
	}
	work = t.TempDir()
	images = builder{t, filepath.Join(work, "images")}
	t.Cleanup(func() { images.run("", work, "rm", "-a") })
	return images, work
}

func (b builder) run(input, dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(b.t.Context()), "buildah", append([]string{"--storage-driver", "vfs", "--root", b.root, "--runroot", b.root + "-run"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("buildah %s: %v\n%s%s", strings.Join(args, " "), err, out, problems.String())
	}
	return strings.TrimSpace(string(out))
}

// The Dockerfiles of the documentation and of a new project make an image that serves the provider, and that the public MCP
// registry accepts by its label.
func TestAnImageServesItsProvider(t *testing.T) {
	images, work := newBuilder(t)
	base := baseContext(t, work)
	images.run("", base, "bud", "-q", "--isolation", "chroot", "-t", "localhost/wasmres", ".")
	project := filepath.Join(work, "notes")
	command(t, work, filepath.Join(base, "wasmres"), "new", "--lang", "c", "--image", "io.github.ada/notes", "notes")
	command(t, project, filepath.Join(base, "wasmres"), "build")
	images.run("", project, "bud", "-q", "--isolation", "chroot", "--build-arg", "WASMRES=localhost/wasmres", "-t", "localhost/notes", ".")

	if label := images.run("", work, "inspect", "--type", "image", "--format", `{{index .OCIv1.Config.Labels "io.modelcontextprotocol.server.name"}}`, "localhost/notes"); label != "io.github.ada/notes" {
		t.Errorf("the label is %q", label)
	}
	entry := strings.Fields(images.run("", work, "inspect", "--type", "image", "--format", "{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}", "localhost/notes"))
	container := images.run("", work, "from", "localhost/notes")
	answers := images.run(initialize+read, work, append([]string{"run", "--isolation", "chroot", container, "--"}, entry...)...)
	if !strings.Contains(answers, "Notes about what a provider is made of") {
		t.Errorf("got %s", answers)
	}
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	read       = `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"notes://about"}}` + "\n"
)

// baseContext makes the folder from which an image of wasmres is built, as docs/images.md says.
func baseContext(t *testing.T, work string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/images.md")
	if err != nil {
		t.Fatal(err)
	}
	found := dockerfile.FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/images.md has no Dockerfile")
	}
	dir := filepath.Join(work, "base")
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"Dockerfile": found[1], "ca-certificates.crt": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(guesttest.Program(t), filepath.Join(dir, "wasmres")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
}
