package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/guesttest"
)

// A devRun is a running "wasmres dev" or "run": the lines of its standard error.
type devRun struct {
	lines  chan string
	said   []string
	unseen []string // of said: lines that await has not matched
}

// startReading reads the lines of a standard error.
func startReading(stderr io.Reader) *devRun {
	d := &devRun{lines: make(chan string, 10_000)}
	go func() {
		defer close(d.lines)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			d.lines <- lines.Text()
		}
	}()
	return d
}

func (d *devRun) String() string { return strings.Join(d.said, "\n") }

// await returns the parts of a line that matches, of those that were not awaited before.
func (d *devRun) await(t *testing.T, pattern string) []string {
	t.Helper()
	want, late := regexp.MustCompile(pattern), time.After(time.Minute)
	for {
		if i := slices.IndexFunc(d.unseen, want.MatchString); i >= 0 {
			parts := want.FindStringSubmatch(d.unseen[i])
			d.unseen = slices.Delete(d.unseen, i, i+1)
			return parts
		}
		select {
		case line, open := <-d.lines:
			if !open {
				t.Fatalf("it ended, and did not say %s:\n%s", pattern, d)
			}
			d.said, d.unseen = append(d.said, line), append(d.unseen, line)
		case <-late:
			t.Fatalf("it did not say %s:\n%s", pattern, d)
		}
	}
}

// startDev runs "wasmres dev" in this process over HTTP, and gives where it serves, after the first build. The end of
// the test interrupts it, which it must take well.
func startDev(t *testing.T, args ...string) (d *devRun, endpoint string) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	stderr, w := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		defer w.Close()
		all := append([]string{"wasmres", "dev", "--http", "127.0.0.1:0"}, args...)
		ended <- Main(ctx, all, strings.NewReader(""), io.Discard, w)
	}()
	d = startReading(stderr)
	t.Cleanup(func() {
		interrupt()
		for line := range d.lines {
			d.said = append(d.said, line)
		}
		if status := <-ended; status != cli.StatusOK {
			t.Errorf("interrupted, its exit status is %d, want 0:\n%s", status, d)
		}
	})
	endpoint = d.await(t, `serve +(http://\S+/mcp)`)[1]
	d.await(t, " build ")
	return d, endpoint
}

// A devClient is a session with the server, and the notifications it has received.
type devClient struct {
	*sdk.ClientSession
	lists   chan struct{}
	updates chan string
}

// connect connects a client that asks for this revision; empty for the newest.
func connect(t *testing.T, over sdk.Transport, revision string) *devClient {
	t.Helper()
	c := &devClient{lists: make(chan struct{}, 100), updates: make(chan string, 100)}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, &sdk.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { c.lists <- struct{}{} },
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			c.updates <- r.Params.URI
		},
	})
	var err error
	c.ClientSession, err = client.Connect(t.Context(), over, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// reads fails the test unless the client reads this.
func (c *devClient) reads(t *testing.T, uri, want string) {
	t.Helper()
	got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil || len(got.Contents) != 1 || !strings.Contains(got.Contents[0].Text, want) {
		t.Fatalf("read %s: got %+v, %v, want %q", uri, got, err, want)
	}
}

// awaitChange fails the test unless the client receives a notification.
func awaitChange[T any](t *testing.T, what string, changes <-chan T) (told T) {
	t.Helper()
	select {
	case told = <-changes:
	case <-time.After(time.Minute):
		t.Fatalf("the client was not told of %s", what)
	}
	return told
}

// notesProject makes a project in Go, offline.
func notesProject(t *testing.T) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		guesttest.Missing(t, "%v", err)
	}
	parent := t.TempDir()
	shell(t, parent, "wasmres new notes")
	return filepath.Join(parent, "notes")
}

// edit replaces a text of a file.
func edit(t *testing.T, file, old, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, now, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	devAbout = "Notes about what a provider is made of, at"
	devURI   = "notes://about"
)

func TestDevKeepsAProviderServed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	for _, revision := range []string{"2025-11-25", ""} {
		t.Run("revision "+revision, func(t *testing.T) {
			dir := notesProject(t)
			source := filepath.Join(dir, "main.go")
			d, endpoint := startDev(t, "--test", "--sample", devURI, dir)
			d.await(t, `^[0-9:]{8} read +ok +\S+ \S+ +[0-9,]+ fuel  notes://about$`)
			d.await(t, `^[0-9:]{8} test +7 steps, `)
			c := connect(t, &sdk.StreamableClientTransport{Endpoint: endpoint}, revision)
			c.reads(t, devURI, devAbout)
			if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: devURI}); err != nil {
				t.Fatal(err)
			}

			edit(t, source, devAbout, "Other words, at")
			d.await(t, `changed +main.go$`)
			d.await(t, `build +built in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
			awaitChange(t, "the list", c.lists)
			if uri := awaitChange(t, "a resource", c.updates); uri != devURI {
				t.Errorf("told of %s", uri)
			}
			c.reads(t, devURI, "Other words, at")
			d.await(t, `test +1 failure in 7 steps, `)
			d.await(t, `^ +\+.*Other words`)

			if revision != "" {
				return // how builds fail does not depend on the client
			}
			edit(t, source, "Other words", `" + broken + "`)
			d.await(t, `build +failed in [0-9.]+ s: go: exit status 1; the last provider stays$`)
			d.await(t, `^\./main.go:[0-9]+:[0-9]+: undefined: broken$`)
			c.reads(t, devURI, "Other words, at")

			edit(t, source, `" + broken + "`, "Mended")
			d.await(t, `build +built in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
			awaitChange(t, "a resource", c.updates)
			c.reads(t, devURI, "Mended, at")

			edit(t, source, "// main stays empty", "// main is empty")
			d.await(t, `build +built in [0-9.]+ s, [0-9.]+ MiB, unchanged$`)
		})
	}
}

// Over stdio, from a project that does not build at first.
func TestDevServesBeforeThereIsAProvider(t *testing.T) {
	if testing.Short() {
		t.Skip("builds projects")
	}
	dir := notesProject(t)
	source := filepath.Join(dir, "main.go")
	edit(t, source, devAbout, `" + broken + "`)
	cmd := exec.Command("wasmres", "dev", "--stdio", dir)
	cmd.Env = append(cmd.Environ(), "GOPROXY=off", "GOFLAGS=")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	d := startReading(stderr)
	c := connect(t, &sdk.CommandTransport{Command: cmd}, "2025-11-25")
	d.await(t, `build +failed .*; there is no provider yet$`)
	d.await(t, `undefined: broken$`)
	if name := c.InitializeResult().ServerInfo.Name; name != "notes" {
		t.Errorf("the server is called %q", name)
	}
	_, err = c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: devURI})
	if err == nil || !strings.Contains(err.Error(), "notes has not been built yet: see the output") {
		t.Errorf("got %v, want to be told where to look", err)
	}
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: devURI}); err != nil {
		t.Fatal(err)
	}
	edit(t, source, `" + broken + "`, devAbout)
	d.await(t, `build +built in [0-9.]+ s, [0-9.]+ MiB, ready$`)
	awaitChange(t, "the list", c.lists)
	awaitChange(t, "a resource", c.updates)
	c.reads(t, devURI, devAbout)
	if err := c.Close(); err != nil {
		t.Errorf("it did not end well: %v", err)
	}
}

func TestDevServesAModuleThatOthersBuild(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made.wasm")
	install := func(module []byte) {
		t.Helper()
		if err := writeWhole(file, module); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t)) // where both are compiled already
	hello := readFile(t, guesttest.File(t, "hello"))
	install(hello)
	d, endpoint := startDev(t, file)
	c := connect(t, &sdk.StreamableClientTransport{Endpoint: endpoint}, "")
	c.reads(t, "greeting://Ada", "Ada")
	install([]byte("no module"))
	d.await(t, `build +failed in .* does not load: .*; the last provider stays$`)
	c.reads(t, "greeting://Ada", "Ada")
	install(readFile(t, guesttest.File(t, "everything")))
	d.await(t, `build +loaded in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
	awaitChange(t, "the list", c.lists)
	c.reads(t, "test://static-text", "This is the content of the static text resource.")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	d.await(t, `build +failed in .*no such file`)
	install(hello)
	d.await(t, `build +loaded in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
	c.reads(t, "greeting://Ada", "Ada")
}

// Tools remove a folder and make it anew, and move it away and back.
func TestDevWaitsForAFolderThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	file := filepath.Join(dir, "made.wasm")
	t.Setenv("WASMRES_CACHE_DIR", guesttest.CacheDir(t))
	install := func(example string) {
		t.Helper()
		if err := writeWhole(file, readFile(t, guesttest.File(t, example))); err != nil {
			t.Fatal(err)
		}
	}
	install("hello")
	t.Chdir(dir)
	d, endpoint := startDev(t, "made.wasm")
	c := connect(t, &sdk.StreamableClientTransport{Endpoint: endpoint}, "")

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	d.await(t, `watch +\S*/made was removed; waiting until it exists again$`)
	c.reads(t, "greeting://Ada", "Ada")
	install("everything")
	d.await(t, `watch +it exists again$`)
	d.await(t, `build +loaded in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
	c.reads(t, "test://static-text", "This is the content of the static text resource.")

	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	d.await(t, `made was removed`)
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	d.await(t, `exists again$`)
	d.await(t, `build +loaded in [0-9.]+ s, [0-9.]+ MiB, unchanged$`)
	install("hello")
	d.await(t, `build +loaded in [0-9.]+ s, [0-9.]+ MiB, swapped$`)
	c.reads(t, "greeting://Ada", "Ada")
}

// writeWhole writes a file as compilers do: it is whole whenever it is there.
func writeWhole(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
