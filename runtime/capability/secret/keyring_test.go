package secret_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/internal/keyringtest"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A process that has these in its environment asks the keyring of its session, and prints the answer: a process
// keeps its first connection to the bus.
const (
	askService = "WASMRES_TEST_ASK_SERVICE"
	askUser    = "WASMRES_TEST_ASK_USER"
	askWait    = "WASMRES_TEST_ASK_WAIT"
)

func TestMain(m *testing.M) {
	service, asking := os.LookupEnv(askService)
	if !asking {
		os.Exit(m.Run())
	}
	wait, err := time.ParseDuration(os.Getenv(askWait))
	if err != nil {
		panic(err)
	}
	value, err := secret.Keyring{Service: service, User: os.Getenv(askUser), Wait: wait}.Secret()
	fmt.Printf("%q, %v", value.Reveal(), err)
}

// ask returns the answer of the keyring to a process with that environment.
func ask(t *testing.T, environ []string, entry secret.Keyring) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // half of what it takes by default
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(environ, "GORACE=atexit_sleep_ms=0",
		askService+"="+entry.Service, askUser+"="+entry.User, askWait+"="+entry.Wait.String())
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// session starts one for the test alone.
func session(t *testing.T, start func() (*keyringtest.Session, error)) *keyringtest.Session {
	t.Helper()
	s, err := start()
	if errors.Is(err, keyringtest.ErrMissing) {
		guesttest.Missing(t, "no keyring: install %s: %v", keyringtest.Packages, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestKeyring(t *testing.T) {
	s := session(t, keyringtest.Start)
	for user, stored := range map[string]string{"ada": text, "alan": text + "\n", "a/b c": text + "\r\n"} {
		if err := s.Store("example.org", user, stored); err != nil {
			t.Fatal(err)
		}
		got, want := ask(t, s.Environ(), secret.Keyring{Service: "example.org", User: user}), fmt.Sprintf("%q, <nil>", text)
		if got != want {
			t.Errorf("%s: got %s, want %s", user, got, want)
		}
	}
	for _, absent := range []secret.Keyring{
		{Service: "example.org", User: "grace"}, {Service: "example.com", User: "ada"},
	} {
		want := fmt.Sprintf(`"", the keyring has no entry for %q of service %q`, absent.User, absent.Service)
		if got := ask(t, s.Environ(), absent); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLockedKeyring(t *testing.T) {
	for want, start := range map[string]func() (*keyringtest.Session, error){
		`"", the keyring is locked: unlock it and try again`:       keyringtest.Start,
		`"", the keyring has not answered within 200ms: unlock it`: keyringtest.StartAsking,
	} {
		s := session(t, start)
		entry := secret.Keyring{Service: "example.org", User: "ada", Wait: 200 * time.Millisecond}
		if err := s.Store(entry.Service, entry.User, text); err != nil {
			t.Fatal(err)
		}
		if err := s.Lock(); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s.Environ(), entry); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNoKeyring(t *testing.T) {
	bare, ended := session(t, keyringtest.StartBare), session(t, keyringtest.StartBare)
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
	for why, environ := range map[string][]string{
		"The name org.freedesktop.secrets was not provided by any .service files": bare.Environ(),
		"no such file or directory": ended.Environ(),
	} {
		got := ask(t, environ, secret.Keyring{Service: "example.org", User: "ada"})
		if !strings.HasPrefix(got, `"", keyring not available: `) ||
			!strings.HasSuffix(got, why+": use an environment variable or a file instead") {
			t.Errorf("got %s, want %q in it", got, why)
		}
	}
}

// A bus that is started to reach a keyring would never end.
func TestNoBusIsStarted(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "launched")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\n>"+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"", "autolaunch:"} {
		environ := []string{"PATH=" + dir, "DBUS_SESSION_BUS_ADDRESS=" + address}
		got := ask(t, environ, secret.Keyring{Service: "wasmres-test", User: "absent"})
		if !strings.HasPrefix(got, `"", `) || strings.HasSuffix(got, "<nil>") {
			t.Errorf("%q: got %s", address, got)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a bus was started")
	}
}
