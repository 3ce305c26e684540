package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
)

// moved is logged when calls have waited too long behind another.
const moved = "waiting calls moved to other links"

// always has calls share links, however long they take.
const always = time.Hour

// Calls that share a link get their own answers, whatever their size and in whatever order they end.
func TestCallsThatShareALinkGetTheirOwnAnswers(t *testing.T) {
	leavesNothing(t)
	content := func(size int) []byte {
		return bytes.Repeat([]byte(strconv.Itoa(size)+" "), size)[:size]
	}
	sizes := []int{1, 10, 100, 1000, 20_000, 200_000}
	m := loadPuppet(t, provider.Config{
		Runner: newRunner(t, worker.Config{PipelineUnder: always}), Limits: limits.Limits{Timeout: patience, Calls: 8},
	}, func(_ context.Context, n int, req *abi.Request) guesttest.Step {
		size, _ := strconv.Atoi(strings.TrimPrefix(req.URI, "x:"))
		switch n {
		case 0:
			return guesttest.Emit((&abi.Content{URI: req.URI, Kind: abi.KindBlob}).Append(nil))
		case 1, 2, 3:
			return guesttest.Body(content(size))
		}
		return guesttest.Return(abi.CodeOK)
	})
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := range 40 {
				size := sizes[(client*3+i)%len(sizes)]
				got, want := sink{}, bytes.Repeat(content(size), 3)
				_, err := m.Call(t.Context(), abi.OpRead, &abi.Request{URI: fmt.Sprintf("x:%d", size)}, &got)
				if err != nil || got.size != len(want) || !bytes.HasPrefix(want, got.body) {
					t.Errorf("%d bytes: got %d, %v, or others", len(want), got.size, err)
				}
			}
		})
	}
	clients.Wait()
}

// behindALongCall loads a module of which one call is under way until end, while others share links where that may be.
func behindALongCall(t *testing.T, lifecycle abi.Lifecycle, log *journal) (m *provider.Provider, end func()) {
	t.Helper()
	began, release := make(chan struct{}), make(chan struct{})
	m = loadPuppet(t, provider.Config{
		Runner:    newRunner(t, worker.Config{PipelineUnder: always, Logger: log.debug()}),
		Lifecycle: lifecycle, Limits: limits.Limits{Timeout: patience, Calls: 8},
	}, func(ctx context.Context, n int, req *abi.Request) guesttest.Step {
		if req.URI == "x:long" && n == 0 {
			close(began)
			<-release
		}
		return well(ctx, n, req)
	})
	var long sync.WaitGroup
	long.Go(func() {
		if _, err := read(t.Context(), m, "x:long"); err != nil {
			t.Error(err)
		}
	})
	<-began
	return m, func() {
		close(release)
		long.Wait()
	}
}

// Calls that wait behind a long one move to other links, and its link is in order afterwards. Where guest state outlives a
// call, no call waits on a link.
func TestALongCallDelaysNoOther(t *testing.T) {
	for lifecycle, want := range map[abi.Lifecycle]int{abi.LifecycleFresh: 1, abi.LifecycleSession: 0} {
		t.Run(lifecycle.String(), func(t *testing.T) {
			leavesNothing(t)
			var log journal
			m, end := behindALongCall(t, lifecycle, &log)
			var others sync.WaitGroup
			for range 6 {
				others.Go(func() { works(t, m) })
			}
			others.Wait()
			end()
			for range 20 {
				works(t, m)
			}
			if n := strings.Count(log.String(), moved); n < want || want == 0 && n > 0 {
				t.Errorf("calls moved %d times\n%s", n, log.String())
			}
		})
	}
}

// A worker that is killed under calls that wait for each other is replaced, and those that it has
// not answered are retried.
func TestCallsThatShareALinkOutliveTheirWorker(t *testing.T) {
	leavesNothing(t)
	m := loadPuppet(t, provider.Config{
		Runner: newRunnerIn(t, t.TempDir(), worker.Config{PipelineUnder: always}), Limits: limits.Limits{Timeout: patience, Calls: 8},
	}, well)
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got, err := read(t.Context(), m, "x:o"); err == nil && got != "fine" || err != nil && abi.CodeOf(err) != abi.CodeUnavailable {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
	for range 3 {
		signal(t, unix.SIGKILL)
		recovers(t, m)
	}
	close(done)
	clients.Wait()
	recovers(t, m)
}

// A call that is cancelled while it waits for another ends, and harms none.
func TestACallThatWaitsCanBeCancelled(t *testing.T) {
	leavesNothing(t)
	m, end := behindALongCall(t, abi.LifecycleFresh, &journal{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			stop := time.AfterFunc(time.Millisecond/2, cancel)
			defer stop.Stop()
			if _, err := read(ctx, m, "x:o"); err != nil && abi.CodeOf(err) != abi.CodeCancelled {
				t.Errorf("got %v", err)
			}
			cancel()
		})
	}
	others.Wait()
	end()
	works(t, m)
}
