package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// Guests that compute until their time is up, more of them than there are processors, end soon after it: a worker is not
// killed for being busy. Go would let each compute for 10 ms at a time, so that a second of each processor would
// pass between two turns of one: five times the grace. What counts is the processor time of the worker, so other programs
// may be busy as well. With the race detector the grace is longer, and all this shows is that the guests end by themselves.
func TestABusyWorkerIsNotKilled(t *testing.T) {
	takesLong(t)
	const (
		rounds  = 2
		timeout = 300 * time.Millisecond
		grace   = 200 * time.Millisecond * worker.Slowdown
	)
	processors := goruntime.GOMAXPROCS(0)
	var log journal
	cfg := provider.Config{
		Runner: newRunner(t, worker.Config{Logger: log.logger(), Grace: time.Minute * worker.Slowdown}),
		Limits: limits.Limits{Timeout: timeout, Calls: 100 * processors},
	}
	m := loadPuppet(t, cfg, func(context.Context, int, *abi.Request) guesttest.Step { return guesttest.Spin() })
	pid := workerOf(t)
	before := computed(t, pid)
	var clients sync.WaitGroup
	for range m.Info().Limits.Calls {
		clients.Go(func() {
			for range rounds {
				if _, err := read(t.Context(), m, "x:spin"); abi.CodeOf(err) != abi.CodeDeadline {
					t.Errorf("got %v, want deadline", err)
				}
			}
		})
	}
	clients.Wait()
	if killed := strings.Count(log.String(), "worker killed"); killed > 0 {
		t.Fatalf("the worker was killed %d times", killed)
	}
	most := rounds * (timeout + grace) * time.Duration(processors)
	if took := computed(t, pid) - before; took > most {
		t.Errorf("the worker computed for %v, at most %v are allowed", took, most)
	}
}

// computed returns the processor time that a process has taken.
func computed(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	const user, system, ticks = 11, 12, 100 // after the name; ticks are in a second
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var all time.Duration
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		all += time.Duration(n) * time.Second / ticks
	}
	return all
}
