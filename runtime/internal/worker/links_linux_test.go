package worker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/limits"
)

// windows counts the windows of links that this process has open.
func windows(t *testing.T) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if target, _ := os.Readlink(file); strings.Contains(target, "wasmres-window") {
			n++
		}
	}
	return n
}

// meeting is a play whose calls wait until so many of them run.
func meeting(n int) func(context.Context, int, *abi.Request) guesttest.Step {
	var mu sync.Mutex
	running, all := 0, make(chan struct{})
	return func(ctx context.Context, step int, req *abi.Request) guesttest.Step {
		if step > 0 {
			return well(ctx, step, req)
		}
		mu.Lock()
		met := all
		if running++; running == n {
			close(all)
			running, all = 0, make(chan struct{})
		}
		mu.Unlock()
		<-met
		return well(ctx, step, req)
	}
}

// callAtOnce makes so many calls that run at the same time.
func callAtOnce(t *testing.T, m *provider.Provider, n int) {
	t.Helper()
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() { works(t, m) })
	}
	calls.Wait()
}

// TestLinksThatAreNotUsedAreClosed calls a provider many times at once, again and again.
func TestLinksThatAreNotUsedAreClosed(t *testing.T) {
	leavesNothing(t)
	const calls = 6
	log := &journal{}
	r := newRunner(t, worker.Config{LinkIdle: 10 * time.Millisecond, Logger: log.debug()})
	l := patient
	l.Calls = calls
	m := loadPuppet(t, provider.Config{Runner: r, Limits: l}, meeting(calls))
	alone := 2 // windows: of the worker, and of the standby worker
	for range 5 {
		callAtOnce(t, m, calls)
		eventually(t, func() bool { return windows(t) <= alone })
	}
	noExits(t, log)
}

// TestCallsWithoutDescriptorsAreRefused calls a provider twice at once while this process may open no file.
func TestCallsWithoutDescriptorsAreRefused(t *testing.T) {
	r := newRunner(t, worker.Config{})
	running, end := make(chan struct{}), make(chan struct{})
	m := loadPuppet(t, provider.Config{Runner: r, Limits: limits.Limits{Timeout: patience, Calls: 2}}, func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
		if n == 0 && req.URI == "x:slow" {
			close(running)
			<-end
		}
		return well(ctx, n, req)
	})
	var call sync.WaitGroup
	call.Go(func() { _, _ = read(t.Context(), m, "x:slow") })
	<-running
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := read(t.Context(), m, "x:o")
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if e := (*abi.Error)(nil); abi.CodeOf(err) != abi.CodeUnavailable || !errors.As(err, &e) || e.RetryAfter <= 0 {
		t.Errorf("got %v, want an error with the time to retry after", err)
	}
	close(end)
	call.Wait()
	works(t, m)
}
