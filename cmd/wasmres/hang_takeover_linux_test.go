package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/admin/admintest"
)

// A server that hangs while another one takes over makes that give up in a bounded time and say what to do. When it goes on, it serves
// as before, also after it had closed its files for the other one. A server that hangs when it has given up its files is replaced.
func TestTakeoversOfAServerThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for deadlines")
	}
	for _, tt := range []struct {
		at        string // a fault point; empty for before the takeover
		isWithout bool   // the new server replaces the old one without its answer
	}{
		{"", false},
		{"takeover: before the release", false},
		{"takeover: files released", false},
		{"takeover: release told", true},
	} {
		t.Run("at "+strings.TrimPrefix(tt.at, "takeover: "), func(t *testing.T) {
			t.Parallel() // most of it is waiting
			v := newVictim(t)
			goesOn := filepath.Join(t.TempDir(), "go on")
			v.start(fmt.Sprint(hangKey, "=", tt.at, "|", goesOn))
			if err := v.key("before"); err != nil {
				t.Fatal(err)
			}
			old, oldDone := v.cmd, v.done
			t.Cleanup(func() { _ = old.Process.Kill() })
			if tt.at == "" {
				if err := old.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			successor, ended := v.replaceBy()
			untilStopped(t, old.Process.Pid)
			v.api = admintest.Client(t, filepath.Join(v.dir, "data", admin.SocketName)) // without a connection to the old server
			if tt.isWithout {
				if !v.serves(ended) {
					t.Fatalf("the new server has ended: %s", v.log())
				}
				v.cmd, v.done = successor, ended
			} else {
				select {
				case err := <-ended:
					if said := v.log(); err == nil || !strings.Contains(said, "answer") || !strings.Contains(said, "restart it") {
						t.Errorf("the new server ends with %v, and says %s", err, said)
					}
				case <-time.After(time.Minute):
					t.Fatalf("the new server waits for ever: %s", v.log())
				}
			}
			if err := errors.Join(os.WriteFile(goesOn, nil, 0o600), old.Process.Signal(syscall.SIGCONT)); err != nil {
				t.Fatal(err)
			}
			if tt.isWithout {
				select {
				case <-oldDone:
				case <-time.After(2 * time.Minute):
					t.Fatalf("the old server goes on: %s", v.log())
				}
			}
			v.untilChanged("after")
			if got := v.keys(); !slices.Equal(got, []string{"after", "before"}) {
				t.Errorf("got the keys %q: %s", got, v.log())
			}
			v.stop()
		})
	}
}

// untilStopped waits until a process is stopped.
func untilStopped(t *testing.T, pid int) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || time.Now().After(until) {
			t.Fatalf("the server does not stop: %s, %v", text, err)
		}
		if bytes.HasPrefix(text[bytes.LastIndexByte(text, ')')+1:], []byte(" T ")) {
			return
		}
	}
}
