package link_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
)

// patience is how long a test waits for what should happen at once: the machine may be busy.
const patience = 30 * time.Second

// hangs fails the program when what is begun does not end.
func hangs() (ended func() bool) {
	return time.AfterFunc(2*patience, func() { panic("it does not end") }).Stop
}

// load loads the module of a puppet, whose guests no process runs, until the end of the test.
func load(tb testing.TB, run guest.Runner, cfg provider.Config, ops uint32) *provider.Provider {
	tb.Helper()
	p := &guesttest.Puppet{Manifest: abi.Manifest{Name: "puppet", Ops: ops, URIPrefixes: []string{"x:"}}}
	cfg.Runner = run
	m, err := provider.Open(tb.Context(), cfg, p.Binary(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

// A sink keeps what it is given.
type sink struct {
	heads []abi.Content
	body  []byte
	size  int
}

func (s *sink) Content(c *abi.Content) error { s.heads = append(s.heads, *c); return nil }
func (s *sink) Progress(abi.Progress)        {}
func (s *sink) Body(p []byte) error {
	if s.size += len(p); len(s.body) < 1<<20 {
		s.body = append(s.body, p...)
	}
	return nil
}

// leavesNothing fails the test when it leaves files or goroutines. It is called before anything is opened.
func leavesNothing(t *testing.T) {
	t.Helper()
	files, goroutines := inUse(t)
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			f, g := inUse(t)
			if f <= files && g <= goroutines {
				return
			}
			if time.Now().After(deadline) {
				stacks := make([]byte, 64<<10)
				t.Fatalf("got %d files and %d goroutines, at the start %d and %d\n%s", f, g, files, goroutines, stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

func inUse(t *testing.T) (files, goroutines int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries), runtime.NumGoroutine()
}
