package limiter_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
)

// call makes a call that keeps the processor busy for some time, and waits for others beside.
func call(ctx context.Context, l *limiter.Limiter, session string, busy, waits time.Duration) error {
	ticket, err := l.Enter(ctx, session)
	if err != nil {
		return err
	}
	began := time.Now()
	time.Sleep(busy + waits)
	ticket.Leave(began, busy)
	return nil
}

func TestCallsKeepToTheirShareOfTheProcessors(t *testing.T) {
	for _, tt := range []struct {
		name        string
		milli       uint32
		busy, waits time.Duration
		atOnce      int
		least, most time.Duration // for 40 calls
	}{
		{"no bound", 0, 50 * time.Millisecond, 0, 1, 2 * time.Second, 2 * time.Second},
		{"half of one", 500, 50 * time.Millisecond, 0, 1, 3800 * time.Millisecond, 4 * time.Second},
		{"half of one, with four at once", 500, 50 * time.Millisecond, 0, 4, 3500 * time.Millisecond, 4 * time.Second},
		{"a tenth", 100, 50 * time.Millisecond, 0, 2, 18 * time.Second, 20 * time.Second},
		{"more than is used", 2000, 50 * time.Millisecond, 0, 1, 2 * time.Second, 2 * time.Second},
		{"waiting for others does not count", 500, 50 * time.Millisecond, 50 * time.Millisecond, 1, 4 * time.Second, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter.New(limiter.Config{Calls: 4, MilliCPU: tt.milli, Timeout: 10 * time.Second})
				defer l.Close()
				began := time.Now()
				var callers sync.WaitGroup
				for range tt.atOnce {
					callers.Go(func() {
						for range 40 / tt.atOnce {
							if err := call(t.Context(), l, "", tt.busy, tt.waits); err != nil {
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

func TestACallThatWouldWaitTooLongForTheProcessorsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.Config{Calls: 4, MilliCPU: 10, Timeout: 10 * time.Second})
		defer l.Close()
		if err := call(t.Context(), l, "", time.Second, 0); err != nil {
			t.Fatal(err)
		}
		err := call(t.Context(), l, "", time.Second, 0) // 100 s are to be waited for, of which one has passed
		var refused *abi.Error
		if !errors.As(err, &refused) || refused.Code != abi.CodeBusy || refused.RetryAfter.Round(time.Second) != 99*time.Second {
			t.Errorf("got %v", err)
		}
		time.Sleep(95 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := call(ctx, l, "", time.Second, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := call(t.Context(), l, "", time.Second, 0); err != nil {
			t.Errorf("after its time: %v", err)
		}
	})
}

// TestCallsThatWaitForTheProcessorsHoldNoSlot has four slots and four calls that wait: a fifth is not refused because
// calls are running.
// What a call uses after it has ended, as its second run, counts as what it has used before.
func TestWorkAfterACallCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.Config{Calls: 4, MilliCPU: 10, Timeout: 10 * time.Second})
		defer l.Close()
		if err := call(t.Context(), l, "", time.Millisecond, 0); err != nil {
			t.Fatal(err)
		}
		l.Charge(time.Now(), time.Second)
		err := call(t.Context(), l, "", time.Millisecond, 0)
		var refused *abi.Error
		if !errors.As(err, &refused) || refused.RetryAfter.Round(time.Second) != 100*time.Second {
			t.Errorf("got %v", err)
		}
	})
}

func TestCallsThatWaitForTheProcessorsHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.Config{Calls: 4, MilliCPU: 100, Timeout: 10 * time.Second})
		defer l.Close()
		if err := call(t.Context(), l, "", 1100*time.Millisecond, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // 8.8 s are left to wait
		errs := make(chan error)
		const calls = 5
		for range calls {
			go func() { errs <- call(t.Context(), l, "", 2*time.Second, 0) }()
		}
		refused := 0
		for range calls {
			err := <-errs
			if err == nil {
				continue
			}
			if refused++; abi.CodeOf(err) != abi.CodeBusy || err.Error() != "the provider has used its share of the processors" {
				t.Errorf("got %v", err)
			}
		}
		if refused != 1 {
			t.Errorf("%d calls of %d were refused, want 1: there are four slots", refused, calls)
		}
	})
}

func TestCallsOfASessionRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.Config{Calls: 4, Timeout: time.Minute})
		defer l.Close()
		var mu sync.Mutex
		running, took := map[string]int{}, map[string]time.Duration{}
		began := time.Now()
		var callers sync.WaitGroup
		for _, session := range []string{"a", "a", "a", "b", "", ""} {
			callers.Go(func() {
				ticket, err := l.Enter(t.Context(), session)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if running[session]++; running[session] > 1 && session != "" {
					t.Errorf("two calls of %s run at once", session)
				}
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running[session]--
				took[session] = time.Since(began)
				mu.Unlock()
				ticket.Leave(began, 0)
			})
		}
		callers.Wait()
		for session, want := range map[string]time.Duration{"a": 3 * time.Second, "b": time.Second, "": time.Second} {
			if took[session] != want {
				t.Errorf("the last call of %q ends after %v, want %v", session, took[session], want)
			}
		}
	})
}

// TestACallThatGivesUpLeavesItsPlace has calls of one session, and calls without one, that are cancelled or come too late
// while another runs.
func TestACallThatGivesUpLeavesItsPlace(t *testing.T) {
	for name, session := range map[string]string{"of a session": "a", "of none": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter.New(limiter.Config{Calls: 1, Timeout: time.Second})
				defer l.Close()
				first, err := l.Enter(t.Context(), session)
				if err != nil {
					t.Fatal(err)
				}
				gone, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				if err := call(gone, l, session, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("cancelled: got %v", err)
				}
				began := time.Now()
				var busy *abi.Error
				if err := call(t.Context(), l, session, 0, 0); !errors.As(err, &busy) || busy.Code != abi.CodeBusy || busy.RetryAfter != time.Second {
					t.Errorf("late: got %v", err)
				}
				if waited := time.Since(began); waited != time.Second {
					t.Errorf("the late call waited for %v, want 1s", waited)
				}
				first.Leave(began, 0)
				if err := call(t.Context(), l, session, 0, 0); err != nil {
					t.Errorf("after all have left: %v", err)
				}
			})
		})
	}
}

func TestASessionHasSoManyCallsWaitAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.Config{Calls: 2, Timeout: time.Minute})
		defer l.Close()
		first, err := l.Enter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		var waiting sync.WaitGroup
		for range 999 {
			waiting.Go(func() {
				if err := call(t.Context(), l, "a", 0, 0); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := call(t.Context(), l, "a", 0, 0); abi.CodeOf(err) != abi.CodeBusy {
			t.Errorf("got %v, want busy", err)
		}
		if err := call(t.Context(), l, "b", 0, 0); err != nil {
			t.Errorf("another session: %v", err)
		}
		first.Leave(time.Now(), 0)
		waiting.Wait()
	})
}

func TestAtMostHalfOfTheCallsAreSlow(t *testing.T) {
	for calls, most := range map[int]int{1: 1, 2: 1, 4: 2, 5: 2} {
		l := limiter.New(limiter.Config{Calls: calls, Timeout: time.Second})
		tickets := make([]limiter.Ticket, calls)
		var got []bool
		for i := range tickets {
			tickets[i], _ = l.Enter(t.Context(), "")
			got = append(got, tickets[i].Slow() == nil)
			if err := tickets[i].Slow(); err != nil {
				t.Errorf("asked again: %v", err)
			}
		}
		want := slices.Concat(slices.Repeat([]bool{true}, most), slices.Repeat([]bool{false}, calls-most))
		if !slices.Equal(got, want) {
			t.Errorf("of %d calls: got %v, want %v", calls, got, want)
		}
		for i := range tickets {
			tickets[i].Leave(time.Now(), 0)
		}
		ticket, _ := l.Enter(t.Context(), "")
		if err := ticket.Slow(); err != nil {
			t.Errorf("after they have left: %v", err)
		}
		ticket.Leave(time.Now(), 0)
		l.Close()
	}
}

func TestCloseWaitsForCallsThatRunAndRefusesThoseThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.Config{Calls: 1, MilliCPU: 10, Timeout: time.Hour})
		ticket, err := l.Enter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		refused := make(chan error, 2)
		for _, session := range []string{"a", ""} {
			go func() { refused <- call(t.Context(), l, session, 0, 0) }()
		}
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			l.Close()
			close(closed)
		}()
		for range cap(refused) {
			if err := <-refused; abi.CodeOf(err) != abi.CodeUnavailable {
				t.Errorf("got %v, want unavailable", err)
			}
		}
		time.Sleep(time.Second)
		select {
		case <-closed:
			t.Error("it has closed while a call runs")
		default:
		}
		ticket.Leave(began, time.Second)
		<-closed
		if err := call(t.Context(), l, "", 0, 0); abi.CodeOf(err) != abi.CodeUnavailable {
			t.Errorf("after the close: got %v, want unavailable", err)
		}
	})
}
