package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/process"
)

// forkServer returns the number of the fork server, of which there is one afterwards too.
func forkServer(t *testing.T) int {
	t.Helper()
	id := process.ForkServer()
	if id == 0 {
		t.Skip("this machine gives no user and pid namespaces")
	}
	t.Cleanup(func() { process.ForkServer() })
	return id
}

// limits returns those of a new child.
func limits(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if e := start(t, process.Config{Name: "read /proc/self/limits", Stdout: &out, Namespaces: true}).End(); e.Status != 0 {
		t.Fatal(e)
	}
	return out.String()
}

func TestAForkServerStartsChildrenThatAreOurs(t *testing.T) {
	leavesNothing(t)
	server := forkServer(t)
	const mark = 54321 // bytes of a core dump, a limit that children inherit
	var before unix.Rlimit
	if err := unix.Prlimit(server, unix.RLIMIT_CORE, &unix.Rlimit{Cur: mark, Max: unix.RLIM_INFINITY}, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prlimit(server, unix.RLIMIT_CORE, &before, nil) })
	if got := limits(t); !strings.Contains(got, fmt.Sprint(mark)) {
		t.Errorf("got %s, want the mark of the fork server", got)
	}
	r, w := pipe(t)
	p := start(t, process.Config{Name: "wait", Stdout: w, Namespaces: true})
	hear(t, r)
	if got := children(t, os.Getpid()); len(got) != 1 || got[0] != fmt.Sprint(p.ID()) {
		t.Errorf("our children are %v, want %d", got, p.ID())
	}
	if got := children(t, server); len(got) > 0 {
		t.Errorf("the fork server's children are %v, want none", got)
	}
}

func TestItDoesWithoutAForkServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until a fork server that is stopped is given up")
	}
	for _, signal := range []unix.Signal{unix.SIGKILL, unix.SIGSTOP} {
		t.Run(signal.String(), func(t *testing.T) {
			leavesNothing(t)
			server := forkServer(t)
			r, w := pipe(t)
			older := start(t, process.Config{Name: "wait", Stdout: w, Namespaces: true})
			hear(t, r)
			if err := unix.Kill(server, signal); err != nil {
				t.Fatal(err)
			}
			// ECHILD: the package has waited for it already.
			err := unix.Waitid(unix.P_PID, server, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
			if err != nil && !errors.Is(err, unix.ECHILD) {
				t.Fatal(err)
			}
			var log bytes.Buffer
			cfg := process.Config{Name: "exit", Namespaces: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			for range 3 {
				if e := start(t, cfg).End(); e.Status != 7 {
					t.Errorf("got %v, want a child that ends as it should", e)
				}
			}
			if got := log.String(); strings.Count(got, "fork server failed") != 1 || !strings.Contains(got, "signal: killed") {
				t.Errorf("the log says %q", got)
			}
			select {
			case <-older.Done():
				t.Errorf("the fork server took a child with it: %v", older.End())
			default:
			}
			if next := process.ForkServer(); next == 0 || next == server {
				t.Errorf("the next fork server is %d, that was %d", next, server)
			}
		})
	}
}

// A child that may be there has the descriptors it was given: there must not be another with the same.
func TestAForkServerThatMayHaveStartedAChild(t *testing.T) {
	forkServer(t)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"forks-not":      "exit status 7\nexit status 7\n",
		"forks-nonsense": "exit status 7\nexit status 7\n",
		"forks-refusing": "exit status 7\nexit status 7\n",
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(program, self, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Cmd{Path: program, Args: []string{"twice"}, Env: []string{"GORACE=atexit_sleep_ms=0"}, Stderr: os.Stderr}
			got, err := cmd.Output()
			if err != nil || !strings.HasPrefix(string(got), want) {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

// A fork server is killed at any moment of a start. What it leaves would have the descriptors of the child that is started
// in its place.
func TestAForkServerLeavesNoProcess(t *testing.T) {
	leavesNothing(t)
	for i := range 60 {
		server := forkServer(t)
		killed := make(chan error)
		go func() {
			for until := time.Now().Add(time.Duration(i%20*100+200) * time.Microsecond); time.Now().Before(until); {
			}
			killed <- unix.Kill(server, unix.SIGKILL)
		}()
		p := start(t, process.Config{Name: "wait", Namespaces: true})
		if err := <-killed; err != nil {
			t.Fatal(err)
		}
		start(t, process.Config{Name: "exit", Namespaces: true}).End() // by when it is known that the fork server is gone
		for _, child := range children(t, os.Getpid()) {
			if child != strconv.Itoa(p.ID()) {
				t.Fatalf("try %d: child %s is not known", i, child)
			}
		}
		p.Kill()
		<-p.Done()
	}
}

// The child fails between fork and exec.
func TestARefusalLeavesNoProcessAndIsNoFailure(t *testing.T) {
	leavesNothing(t)
	server := forkServer(t)
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 1, 1)); err != nil {
		t.Skipf("only root can give a folder away: %v", err)
	}
	for range 3 {
		if _, err := process.Start(process.Config{Name: "exit", Dir: dir, Namespaces: true}); !errors.Is(err, unix.EACCES) {
			t.Errorf("got %v, want that the folder may not be entered", err)
		}
		if left := children(t, os.Getpid()); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	}
	if next := process.ForkServer(); next != server {
		t.Errorf("the fork server is %d, was %d", next, server)
	}
}

func TestWhatDoesNotFitIsNotTheForkServersFault(t *testing.T) {
	server := forkServer(t)
	var out bytes.Buffer
	env := []string{"A=" + strings.Repeat("x", 70<<10)}
	if e := start(t, process.Config{Name: "exit", Env: env, Stdout: &out, Namespaces: true}).End(); e.Status != 7 {
		t.Errorf("got %v", e)
	}
	if next := process.ForkServer(); next != server {
		t.Errorf("the fork server is %d, was %d", next, server)
	}
	env = []string{"GORACE=atexit_sleep_ms=0", "A=\xff\xfe"}
	p := start(t, process.Config{Name: "read /proc/self/environ", Env: env, Stdout: &out, Namespaces: true})
	if e := p.End(); out.String() != strings.Join(env, "\x00")+"\x00" {
		t.Errorf("got the environment %q, %v", out.String(), e)
	}
}

func TestAMissingFolderIsNotTheForkServersFault(t *testing.T) {
	server := forkServer(t)
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := process.Start(process.Config{Name: "exit", Dir: missing, Namespaces: true})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v, want that there is no such folder", err)
	}
	if next := process.ForkServer(); next != server {
		t.Errorf("the fork server is %d, was %d", next, server)
	}
}

func TestAForkServerBeginsWithTheNinthChild(t *testing.T) {
	forkServer(t)
	for env, want := range map[string]string{"A=": "0000000011", "UNSERVED=1": "0000000000"} {
		cmd := exec.Cmd{Path: "/proc/self/exe", Args: []string{"many"}, Env: []string{env, "GORACE=atexit_sleep_ms=0"}, Stderr: os.Stderr}
		if got, err := cmd.Output(); string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", env, got, err, want)
		}
	}
}
