package systemd_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/systemd"
)

// serveEnv makes the test program a server that takes its sockets from the manager.
const serveEnv = "SYSTEMD_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serve()
	}
	os.Exit(m.Run())
}

// serve answers one connection on each socket with what the process was given.
func serve() {
	sockets, err := systemd.Sockets()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	child, _ := exec.Command("/bin/sh", "-c", "echo fds=$LISTEN_FDS; ls /proc/self/fd | wc -l").Output()
	for _, s := range sockets {
		c, err := s.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintf(c, "%s of %d, child %q", s.Name, len(sockets), child)
		_ = c.Close()
	}
	os.Exit(0)
}

// manager listens as a service manager does, and gives what it is told next.
func manager(t *testing.T) (next func() string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return func() string {
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

func TestTheManagerIsTold(t *testing.T) {
	next := manager(t)
	for _, c := range []struct {
		tell func() error
		want string
	}{
		{func() error { return systemd.Ready("serving\nSTOPPING=1") }, "READY=1\nSTATUS=serving STOPPING=1"},
		{systemd.Reloading, `RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]{5,}`},
		{func() error { return systemd.Status(strings.Repeat("x", 10_000)) }, "STATUS=x{512}"},
		{systemd.Stopping, "STOPPING=1"},
	} {
		if err := c.tell(); err != nil {
			t.Fatal(err)
		}
		if got := next(); !regexp.MustCompile("^" + c.want + "$").MatchString(got) {
			t.Errorf("got %q, want %s", got, c.want)
		}
	}
}

func TestWithoutAManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	if err := systemd.Ready("x"); err != nil {
		t.Error(err)
	}
	if err := systemd.Watch(t.Context(), func() bool { t.Error("asked"); return true }); err != nil {
		t.Error(err)
	}
	if sockets, err := systemd.Sockets(); err != nil || len(sockets) != 0 {
		t.Errorf("got %v, %v", sockets, err)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	if err := systemd.Stopping(); err == nil || !strings.Contains(err.Error(), "STOPPING=1") {
		t.Errorf("got %v", err)
	}
}

// The watchdog is told while the server says that it lives, and only then.
func TestWatchdog(t *testing.T) {
	next := manager(t)
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", "")
	ctx, cancel := context.WithCancel(t.Context())
	asked, answer, ended := make(chan struct{}), make(chan bool), make(chan error)
	go func() {
		ended <- systemd.Watch(ctx, func() bool { asked <- struct{}{}; return <-answer })
	}()
	<-asked
	answer <- true
	if got := next(); got != "WATCHDOG=1" {
		t.Errorf("got %q", got)
	}
	<-asked
	answer <- false
	<-asked // nothing was told of the last
	if err := systemd.Stopping(); err != nil || next() != "STOPPING=1" {
		t.Errorf("the manager was told that a server lives that does not: %v", err)
	}
	cancel()
	answer <- false
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Setenv("WATCHDOG_USEC", "soon")
	if err := systemd.Watch(t.Context(), func() bool { return true }); err == nil {
		t.Error("a wrong time was accepted")
	}
}

func TestSocketsThatAreNone(t *testing.T) {
	t.Setenv("LISTEN_PID", fmt.Sprint(os.Getpid()))
	t.Setenv("LISTEN_FDS", "100000")
	if _, err := systemd.Sockets(); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Errorf("got %v", err)
	}
	t.Setenv("LISTEN_PID", "1")
	t.Setenv("LISTEN_FDS", "1")
	if sockets, err := systemd.Sockets(); err != nil || len(sockets) != 0 {
		t.Errorf("those of another process: %v, %v", sockets, err)
	}
}

// The program that systemd ships starts a server at the first connection, as a socket unit does.
func TestSocketActivation(t *testing.T) {
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is missing: install systemd")
	}
	dir := t.TempDir()
	first, second := filepath.Join(dir, "http"), filepath.Join(dir, "admin")
	cmd := exec.CommandContext(t.Context(), activate, "-l", first, "-l", second, "--fdname", "http:admin", "-E", serveEnv+"=1", os.Args[0])
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	for listening := 0; listening < 2; {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if strings.HasPrefix(line, "Listening on") {
			listening++
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	for _, path := range []string{first, second} { // in the order in which the server accepts
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(got), filepath.Base(path)+" of 2, child \"fds=\\n4\\n") {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestNamed(t *testing.T) {
	sockets := []systemd.Socket{{Name: "http"}, {Name: "admin"}, {Name: "http"}}
	named, others := systemd.Named(sockets, "http")
	if len(named) != 2 || len(others) != 1 || others[0].Name != "admin" {
		t.Errorf("got %v and %v", named, others)
	}
}
