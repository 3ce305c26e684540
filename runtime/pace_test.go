package runtime_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/guesttest"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A worksite runs guests that work for a while, and no engine.
type worksite struct {
	runtime.Guests
	work time.Duration // of each call
	asks time.Duration // that each call has the host work beside
}

func (w *worksite) Open(context.Context, *runtime.Order) (runtime.Guests, error) { return w, nil }

func (w *worksite) Call(ctx context.Context, c *runtime.Call) error {
	time.Sleep(w.work)
	if w.asks > 0 {
		c.Service(ctx, abi.ServiceHTTP, nil)
	}
	return nil
}

func (w *worksite) Close() error { return nil }

// A host works as long as it is told to.
type worksiteHost struct{ site *worksite }

func (h worksiteHost) Call(context.Context, []byte) (capability.Response, error) {
	time.Sleep(h.site.asks)
	return capability.Response{}, nil
}

// openSite opens a module whose calls are held to a share of the processors.
func openSite(t *testing.T, w *worksite, milli uint32) *runtime.Module {
	t.Helper()
	puppet := &guesttest.Puppet{Manifest: abi.Manifest{Name: "site", Ops: 1 << abi.OpSubscribe}}
	m, err := runtime.Load(t.Context(), runtime.Config{
		Runner: w, Services: capability.Services{abi.ServiceHTTP: worksiteHost{w}},
		Limits: runtime.Limits{MilliCPU: milli, Timeout: 10 * time.Second, Calls: 4},
	}, puppet.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestCallsKeepToTheirShareOfTheProcessors(t *testing.T) {
	for _, tt := range []struct {
		name        string
		milli       uint32
		work, asks  time.Duration
		atOnce      int
		least, most time.Duration // for 40 calls
	}{
		{"no bound", 0, 50 * time.Millisecond, 0, 1, 2 * time.Second, 2 * time.Second},
		{"half of one", 500, 50 * time.Millisecond, 0, 1, 3800 * time.Millisecond, 4 * time.Second},
		{"half of one, with four at once", 500, 50 * time.Millisecond, 0, 4, 3500 * time.Millisecond, 4 * time.Second},
		{"a tenth", 100, 50 * time.Millisecond, 0, 2, 18 * time.Second, 20 * time.Second},
		{"more than is used", 2000, 50 * time.Millisecond, 0, 1, 2 * time.Second, 2 * time.Second},
		{"what servers take does not count", 500, 50 * time.Millisecond, 50 * time.Millisecond, 1, 4 * time.Second, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := openSite(t, &worksite{work: tt.work, asks: tt.asks}, tt.milli)
				began := time.Now()
				var callers sync.WaitGroup
				for range tt.atOnce {
					callers.Go(func() {
						for range 40 / tt.atOnce {
							if _, err := m.Call(t.Context(), abi.OpSubscribe, &abi.Request{URI: "x:y"}, nil); err != nil {
								t.Error(err)
							}
						}
					})
				}
				callers.Wait()
				if took := time.Since(began); took < tt.least || took > tt.most {
					t.Errorf("40 calls took %v, want %v to %v", took, tt.least, tt.most)
				}
			})
		})
	}
}

func TestWhoWouldWaitTooLongForTheProcessorsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := openSite(t, &worksite{work: time.Second}, 10)
		call := func(ctx context.Context) error {
			_, err := m.Call(ctx, abi.OpSubscribe, &abi.Request{URI: "x:y"}, nil)
			return err
		}
		if err := call(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := call(t.Context()) // 100 s are to be waited for, of which one has passed
		var told *abi.Error
		if !errors.As(err, &told) || told.Code != abi.CodeBusy || told.RetryAfter.Round(time.Second) != 99*time.Second {
			t.Errorf("got %v", err)
		}
		time.Sleep(95 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := call(ctx); abi.CodeOf(err) != abi.CodeCancelled && abi.CodeOf(err) != abi.CodeDeadline {
			t.Errorf("got %v", err)
		}
		if err := call(t.Context()); err != nil {
			t.Errorf("after its time: %v", err)
		}
	})
}

// TestCallsThatWaitForTheProcessorsHoldNoSlot has four slots and four calls that wait: a fifth is not told that calls are
// running.
func TestCallsThatWaitForTheProcessorsHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worksite{work: 1100 * time.Millisecond}
		m := openSite(t, w, 100)
		call := func() error {
			_, err := m.Call(t.Context(), abi.OpSubscribe, &abi.Request{URI: "x:y"}, nil)
			return err
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // 8.8 s are left to wait
		w.work = 2 * time.Second
		errs := make(chan error)
		const calls = 5
		for range calls {
			go func() { errs <- call() }()
		}
		began, told := time.Now(), 0
		for range calls {
			err := <-errs
			if err == nil {
				continue
			}
			if told++; abi.CodeOf(err) != abi.CodeBusy || err.Error() != "the provider has used its share of the processors" {
				t.Errorf("after %v: got %v", time.Since(began), err)
			}
		}
		if told != 1 {
			t.Errorf("%d calls of %d were told to come back, want 1: there are four slots", told, calls)
		}
	})
}
