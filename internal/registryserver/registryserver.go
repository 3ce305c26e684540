// Package registryserver starts a real registry of OCI artifacts, Debian's docker-registry, for tests. Only tests import it.
package registryserver

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Options are how the registry is started. The zero value has no TLS and permits everything.
type Options struct {
	Cert, Key string // files in PEM
	Htpasswd  string // a file: user and bcrypt hash
}

// listening matches what the registry logs once it accepts connections.
var listening = regexp.MustCompile(`listening on (127\.0\.0\.1:[0-9]+)`)

// untilEnd runs a registry until standard input ends, as it does when the test ends, however it ends.
const untilEnd = `"$@" & server=$!; cat >/dev/null; kill $server 2>/dev/null; wait $server`

// Start starts Debian's docker-registry, and returns its host and the folder of its files. The test is skipped if it is
// not installed; with WASMRES_TOOLCHAINS=all in the environment it fails.
func Start(t testing.TB, o Options) (host, dir string) {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		if os.Getenv("WASMRES_TOOLCHAINS") == "all" {
			t.Fatal(err)
		}
		t.Skip("no docker-registry: apt-get install docker-registry")
	}
	dir = t.TempDir()
	config := "version: 0.1\nlog: {level: info, accesslog: {disabled: true}}\nhttp:\n  addr: 127.0.0.1:0\n"
	if o.Cert != "" {
		config += fmt.Sprintf("  tls: {certificate: %q, key: %q}\n", o.Cert, o.Key)
	}
	config += fmt.Sprintf("storage:\n  filesystem: {rootdirectory: %q}\n", dir)
	if o.Htpasswd != "" {
		config += fmt.Sprintf("auth: {htpasswd: {realm: test, path: %q}}\n", o.Htpasswd)
	}
	file := filepath.Join(t.TempDir(), "config.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", untilEnd, "sh", program, "serve", file)
	life, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = life.Close()
		_ = cmd.Wait() // it is ended by a signal
	})
	return awaitHost(t, log), dir
}

func awaitHost(t testing.TB, log io.Reader) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		var said []string
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if at := listening.FindStringSubmatch(lines.Text()); at != nil {
				found <- at[1]
				_, _ = io.Copy(io.Discard, log)
				return
			}
			said = append(said, lines.Text())
		}
		t.Log(strings.Join(said, "\n"))
		close(found)
	}()
	select {
	case host, ok := <-found:
		if !ok {
			t.Fatal("docker-registry ended before it was ready")
		}
		return host
	case <-time.After(2 * time.Minute):
		t.Fatal("docker-registry was not ready after two minutes")
	}
	return ""
}
