package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/sourcetree"
)

// An encrypted server gets its certificates from pebble, Let's Encrypt's authority for tests.
type encrypted struct {
	tb       *testing.T
	bin, dir string
	roots    *x509.CertPool // of the certificates that pebble issues
	pebble   func()         // ends it
	at       string         // the address of clients
	probes   string
	sockets  []*os.File // that the server gets from a service manager; nil for none
	server   *exec.Cmd
	log      *buffer
}

// A buffer has what a process writes.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) has(text string) bool { return b.count(text) > 0 }

func (b *buffer) count(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Count(b.text.Bytes(), []byte(text))
}

// lastPort is below the ports that Linux chooses by itself: nothing else takes a port of a server that is not started yet, or is
// started again.
var lastPort = func() *atomic.Uint32 {
	n := &atomic.Uint32{}
	n.Store(rand.Uint32N(10_000))
	return n
}()

// freePort returns a port of this machine that is free, and that it has not returned before.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(20_000 + lastPort.Add(1)%10_000)
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("of the ports from 20000 to 29999, a hundred in a row are in use")
	return ""
}

// An authority says what pebble does, and how the server is started.
type authority struct {
	seconds   int  // for which certificates are issued
	byTLS     bool // whether pebble finds the server by TLS, rather than by HTTP
	gate      *gate
	activated bool // whether a service manager has opened the sockets
}

// buildPebble builds pebble among the programs of the source tree, where the go command does not link it again as long as its sources
// are the same.
var buildPebble = sync.OnceValues(func() (file string, err error) {
	bin := filepath.Join(sourcetree.Root(), "bin") + string(filepath.Separator)
	build := exec.Command("go", "build", "-o", bin, "./pebble")
	build.Dir = filepath.Join("..", "peers")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build pebble: %w\n%s", err, out)
	}
	return bin + "pebble", nil
})

// startEncrypted starts pebble and a server.
func startEncrypted(t *testing.T, a authority) *encrypted {
	if os.Getenv("WASMRES_E2E") == "" {
		t.Skip("SKIPPED: this runs an authority of other people: 'make e2e' runs it")
	}
	authority, err := buildPebble()
	if err != nil {
		t.Fatal(err)
	}
	e := &encrypted{tb: t, bin: guesttest.Program(t), dir: t.TempDir(), log: &buffer{}}
	port, byHTTP, probes := freePort(t), freePort(t), freePort(t)
	e.at, e.probes = "127.0.0.1:"+port, "127.0.0.1:"+probes
	seen := map[bool]string{true: port, false: byHTTP}
	seen[!a.byTLS] = freePort(t) // where the server is not
	if a.gate != nil {
		seen[a.byTLS] = a.gate.open(t, seen[a.byTLS])
	}
	cmd := exec.Command(authority, e.dir, seen[true], seen[false], fmt.Sprint(a.seconds))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	says := &buffer{}
	cmd.Stderr = says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e.pebble = sync.OnceFunc(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("pebble: %s", says.text.String())
		}
	})
	t.Cleanup(e.pebble)
	lines := bufio.NewReader(out)
	directory := strings.TrimSpace(awaitLine(t, lines, `^(https://127\.0\.0\.1:[0-9]+/dir)\n`))
	root, err := base64.StdEncoding.DecodeString(strings.TrimSpace(awaitLine(t, lines, `^([A-Za-z0-9+/=]+)\n`)))
	if err != nil {
		t.Fatal(err)
	}
	e.roots = x509.NewCertPool()
	e.roots.AppendCertsFromPEM(root)
	over := ""
	if !a.byTLS {
		over = fmt.Sprintf(", http: \"127.0.0.1:%s\"", byHTTP)
	}
	e.write("serve.yaml", fmt.Sprintf("listen: [{address: %q, tls: {acme: {agree: true, email: ops@mcp.example, directory: %q, ca_file: ca.pem%s}}}]\n"+
		"public_url: https://mcp.example\nadmin: {listen: %q}\n", e.at, directory, over, e.probes))
	e.tenant("acme.example")
	if a.activated {
		e.listen(e.at)
		if !a.byTLS {
			e.listen("127.0.0.1:" + byHTTP)
		}
	}
	e.server = e.start()
	t.Cleanup(func() { e.stop() })
	return e
}

// listen opens a socket as a service manager does, for each start of the server.
func (e *encrypted) listen(address string) {
	e.tb.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		e.tb.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		e.tb.Fatal(err)
	}
	e.tb.Cleanup(func() { file.Close() })
	e.sockets = append(e.sockets, file)
}

func (e *encrypted) write(name, text string) {
	e.tb.Helper()
	file := filepath.Join(e.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		e.tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		e.tb.Fatal(err)
	}
}

// tenant writes the file of the tenant, with its hosts.
func (e *encrypted) tenant(hosts ...string) {
	e.write("tenants/acme.yaml", fmt.Sprintf("hosts: [%s]\nproviders:\n  hello: {module: %q}\nroles:\n  reader: [{uris: [\"**\"]}]\nauth: {anonymous: [reader]}\n",
		strings.Join(hosts, ", "), guesttest.File(e.tb, "hello")))
}

// start starts the server.
func (e *encrypted) start(flags ...string) *exec.Cmd {
	e.tb.Helper()
	cmd := exec.Command(e.bin, append([]string{"serve", "--config", filepath.Join(e.dir, "serve.yaml"), "--cache-dir", guesttest.CacheDir(e.tb)}, flags...)...)
	if len(e.sockets) > 0 {
		const activate = `LISTEN_PID=$$ LISTEN_FDS=$0 exec "$@"`
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", activate, fmt.Sprint(len(e.sockets))}, cmd.Args...)
		cmd.ExtraFiles = e.sockets
	}
	log := &buffer{}
	cmd.Stderr = io.MultiWriter(log, e.log)
	if err := cmd.Start(); err != nil {
		e.tb.Fatal(err)
	}
	e.until("operators can connect", func() bool { return log.has("operators can connect") })
	return cmd
}

func (e *encrypted) stop() {
	if e.server == nil {
		return
	}
	_ = e.server.Process.Signal(os.Interrupt)
	if err := e.server.Wait(); err != nil || e.tb.Failed() {
		e.tb.Logf("wasmres: %v\n%s", err, e.log.text.String())
	}
	e.server = nil
}

func (e *encrypted) until(what string, ask func() bool) {
	e.tb.Helper()
	end := time.After(2 * time.Minute)
	for !ask() {
		select {
		case <-end:
			e.tb.Fatalf("waiting for: %s\n%s", what, e.log.text.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// client connects by a name.
func (e *encrypted) client(name string) *http.Client {
	t := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: e.roots, ServerName: name},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, e.at)
		},
	}
	e.tb.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// read reads a resource by a client, and returns the certificate that it sees, and its own address.
func (e *encrypted) read(by *http.Client, name string) (serial string, err error) {
	path := "/mcp"
	if name == "mcp.example" {
		path = "/t/acme/mcp"
	}
	answer, err := by.Get("https://" + name + path + "?uri=hello://about")
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %s", answer.Status)
	}
	return answer.TLS.PeerCertificates[0].SerialNumber.String(), nil
}

// serial waits until a new connection by a name succeeds, and returns the number of its certificate.
func (e *encrypted) serial(name string) (serial string) {
	e.tb.Helper()
	var err error
	e.until("a certificate of "+name, func() bool {
		by := e.client(name)
		defer by.CloseIdleConnections()
		serial, err = e.read(by, name)
		return err == nil
	})
	return serial
}

func (e *encrypted) ready() (status int, text string) {
	answer, err := http.Get("http://" + e.probes + "/readyz")
	if err != nil {
		e.tb.Fatal(err)
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b)
}

func TestServeGetsItsCertificatesFromPebble(t *testing.T) {
	t.Parallel()
	for _, byTLS := range []bool{true, false} {
		t.Run(challengeOf(byTLS), func(t *testing.T) {
			t.Parallel()
			e := startEncrypted(t, authority{seconds: 3600, byTLS: byTLS})
			first := map[string]string{}
			for _, name := range []string{"mcp.example", "acme.example"} {
				first[name] = e.serial(name)
			}
			held := e.client("acme.example") // has a connection for the rest of the test
			if _, err := e.read(held, "acme.example"); err != nil {
				t.Fatal(err)
			}
			if _, err := e.read(e.client("other.example"), "other.example"); err == nil {
				t.Error("a client sees a certificate of a host that the server has not")
			}
			e.tenant("acme.example", "second.example", "refused.example") // the last one is refused by pebble
			e.serial("second.example")
			e.until("a problem", func() bool { _, text := e.ready(); return strings.Contains(text, "refused.example") })
			if status, text := e.ready(); status != http.StatusOK || !strings.Contains(text, "problem: certificate of refused.example not issued") || strings.Contains(text, "second.example") {
				t.Errorf("/readyz: %d %s", status, text)
			}
			e.tenant("acme.example")
			e.until("the second host is gone", func() bool {
				by := e.client("second.example")
				defer by.CloseIdleConnections()
				_, err := e.read(by, "second.example")
				return err != nil
			})
			reused := false
			if serial, err := e.read(held, "acme.example"); err != nil || serial != first["acme.example"] {
				t.Errorf("on the connection from before: %v", err)
			} else {
				reused = true
			}
			if status, text := e.ready(); status != http.StatusOK || text != "ready\n" || !reused {
				t.Errorf("/readyz: %d %s", status, text)
			}

			e.pebble() // from here on certificates come from files
			old := e.server
			e.server = e.start("--takeover")
			if err := old.Wait(); err != nil {
				t.Errorf("the server that was taken over: %v", err)
			}
			for name, want := range first {
				if got := e.serial(name); got != want {
					t.Errorf("after a takeover %s has the certificate %s, want %s", name, got, want)
				}
			}
			e.stop()
			e.server = e.start()
			for name, want := range first {
				if got := e.serial(name); got != want {
					t.Errorf("after a restart %s has the certificate %s, want %s", name, got, want)
				}
			}
			e.tenant("acme.example", "third.example")
			e.until("a problem", func() bool { _, text := e.ready(); return strings.Contains(text, "third.example") })
			if got := e.serial("acme.example"); got != first["acme.example"] {
				t.Error("a new certificate without an authority")
			}
		})
	}
}

func TestServeRenewsItsCertificates(t *testing.T) {
	t.Parallel()
	e := startEncrypted(t, authority{seconds: 30, byTLS: true})
	first := e.serial("acme.example")
	e.until("another certificate", func() bool { return e.serial("acme.example") != first })
}
