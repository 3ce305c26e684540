package keyringtest_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/keyringtest"
)

// marker names, in the environment, a process that starts a session and never closes it.
const marker = "WASMRES_TEST_START_SESSION"

func TestMain(m *testing.M) {
	if os.Getenv(marker) == "" {
		os.Exit(m.Run())
	}
	s, err := keyringtest.Start()
	if err == nil {
		err = s.Store("service", "user", "a secret")
	}
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(strings.Join(s.Environ(), " ") + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A session ends with the process that started it, even if that is killed.
func TestSessionsEndWithTheirProcess(t *testing.T) {
	if s, err := keyringtest.Start(); errors.Is(err, keyringtest.ErrMissing) {
		guesttest.Missing(t, "no keyring: install %s: %v", keyringtest.Packages, err)
	} else if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), marker+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4<<10)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, dir, _ := strings.Cut(string(line[:n]), " HOME=")
	dir, _, _ = strings.Cut(dir, " ")
	defer os.RemoveAll(dir)
	if len(running(t, dir)) < 2 {
		t.Fatalf("no bus and no keyring are there: %q", running(t, dir))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for late := time.After(20 * time.Second); len(running(t, dir)) > 0; {
		select {
		case <-late:
			t.Fatalf("still there: %q", running(t, dir))
		case <-time.Tick(10 * time.Millisecond):
		}
	}
}

// running returns the processes that have a folder for their home.
func running(t *testing.T, home string) (commands []string) {
	t.Helper()
	processes, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		environ, _ := os.ReadFile("/proc/" + p.Name() + "/environ")
		if strings.Contains(string(environ), "HOME="+home+"\x00") {
			command, _ := os.ReadFile("/proc/" + p.Name() + "/cmdline")
			commands = append(commands, string(command))
		}
	}
	return commands
}
