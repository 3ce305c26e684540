package deadline_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

func TestAWatchReportsTheWaitsThatAreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var late []time.Duration
		w := deadline.NewWatch(func() { late = append(late, time.Since(began)) })
		wait := func(most, took time.Duration, inTime bool) {
			t.Helper()
			w.Start(time.Now().Add(most))
			time.Sleep(took)
			synctest.Wait()
			if w.Stop() != inTime {
				t.Errorf("a wait of %v, of at most %v: got in time %v", took, most, !inTime)
			}
		}
		if w.Stop() {
			t.Error("a wait has ended before one began")
		}
		wait(time.Second, 600*time.Millisecond, true)           // its timer runs on
		wait(time.Second, 600*time.Millisecond, true)           // the timer of the first expires
		wait(time.Second, 2*time.Second, false)                 // late at 2.2 s
		wait(time.Minute, time.Second, true)                    // its timer expires late
		wait(100*time.Millisecond, 200*time.Millisecond, false) // late at 4.3 s
		time.Sleep(time.Hour)
		wait(time.Second, time.Second/2, true)
		w.Start(time.Now().Add(time.Second))
		wait(2*time.Second, 3*time.Second/2, true) // in place of the one before
		time.Sleep(time.Hour)
		if want := []time.Duration{2200 * time.Millisecond, 4300 * time.Millisecond}; !slices.Equal(late, want) {
			t.Errorf("got %v, want %v", late, want)
		}
	})
}

// StartSooner begins a wait, and brings forward the one under way; it never puts that off.
func TestAWatchIsStartedSooner(t *testing.T) {
	for name, tt := range map[string]struct{ began, sooner, want time.Duration }{
		"no wait":                {0, time.Second, time.Second},
		"a wait that ends later": {time.Minute, time.Second, time.Second},
		"a wait that ends first": {time.Second, time.Minute, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var late []time.Duration
				w := deadline.NewWatch(func() { late = append(late, time.Since(began)) })
				if tt.began > 0 {
					w.Start(began.Add(tt.began))
				}
				w.StartSooner(began.Add(tt.sooner))
				time.Sleep(time.Hour)
				synctest.Wait()
				if want := []time.Duration{tt.want}; !slices.Equal(late, want) {
					t.Errorf("got %v, want %v", late, want)
				}
			})
		})
	}
}

// A wait that ends in time sets no timer, so that it wakes no thread.
func BenchmarkWatch(b *testing.B) {
	b.Run("watch", func(b *testing.B) {
		w := deadline.NewWatch(func() {})
		b.ReportAllocs()
		for b.Loop() {
			w.Start(time.Now().Add(time.Second))
			w.Stop()
		}
	})
	b.Run("timer", func(b *testing.B) {
		timer := time.AfterFunc(time.Hour, func() {})
		b.ReportAllocs()
		for b.Loop() {
			timer.Reset(time.Second)
			timer.Stop()
		}
	})
}
