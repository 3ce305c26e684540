package deadline_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/deadline"
)

// TestAContextIsSafeForManyGoroutines is for the race detector.
func TestAContextIsSafeForManyGoroutines(t *testing.T) {
	b := deadline.New(t.Context(), time.Minute)
	defer b.Release()
	var others sync.WaitGroup
	for _, use := range []func(){
		func() { b.Deadline() },
		func() { _ = b.Err() },
		func() { b.Done() },
		func() {
			ctx, cancel := context.WithTimeout(b, time.Minute)
			cancel()
			<-ctx.Done()
		},
	} {
		others.Go(func() {
			for range 1000 {
				use()
			}
		})
	}
	for i := range 1000 {
		b.Extend(time.Now().Add(time.Minute + time.Duration(i)*time.Second))
	}
	others.Wait()
}

func TestExtendingAContextAllocatesNothing(t *testing.T) {
	b := deadline.New(t.Context(), time.Minute)
	defer b.Release()
	b.Done()
	deadline, _ := b.Deadline()
	n := testing.AllocsPerRun(1000, func() {
		deadline = deadline.Add(time.Millisecond)
		b.Extend(deadline)
	})
	if n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func TestAContextEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(b *deadline.Context, cancel context.CancelFunc)
		want error
	}{
		{"at its deadline", func(*deadline.Context, context.CancelFunc) { time.Sleep(time.Second) }, context.DeadlineExceeded},
		{"at a deadline that was moved twice", func(b *deadline.Context, _ context.CancelFunc) {
			b.Extend(b.Began().Add(2 * time.Second))
			b.Extend(b.Began().Add(3 * time.Second))
			b.Extend(b.Began().Add(time.Second)) // sooner: no effect
			time.Sleep(3*time.Second - time.Nanosecond)
			if b.Err() != nil {
				panic("it has ended before the moved deadline")
			}
			time.Sleep(time.Nanosecond)
		}, context.DeadlineExceeded},
		{"with its parent", func(_ *deadline.Context, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"when released", func(b *deadline.Context, _ context.CancelFunc) { b.Release() }, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(t.Context())
				defer cancel()
				b := deadline.New(parent, time.Second)
				defer b.Release()
				child, cancelChild := context.WithCancel(b)
				defer cancelChild()
				called, stopped := 0, 0
				context.AfterFunc(b, func() { called++ })
				stop := context.AfterFunc(b, func() { stopped++ })
				if !stop() || stop() {
					t.Error("the first stop must report true, the second false")
				}
				tt.end(b, cancel)
				synctest.Wait()
				for name, ctx := range map[string]context.Context{"bounded": b, "child": child} {
					select {
					case <-ctx.Done():
					default:
						t.Errorf("%s: Done is open", name)
					}
					if err := ctx.Err(); err != tt.want {
						t.Errorf("%s: got %v, want %v", name, err, tt.want)
					}
				}
				if called != 1 || stopped != 0 {
					t.Errorf("called %d and %d times, want once and never", called, stopped)
				}
				context.AfterFunc(b, func() { called++ })
				synctest.Wait()
				if called != 2 {
					t.Error("AfterFunc did not call at once after the end")
				}
			})
		})
	}
}

// TestAContextThatHasEndedStaysSo asks for the error before a goroutine waits.
func TestAContextThatHasEndedStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := deadline.New(t.Context(), time.Second)
		time.Sleep(time.Second)
		if err := b.Err(); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		b.Extend(time.Now().Add(time.Minute))
		<-b.Done()
		b.Release()
		if err := b.Err(); err != context.DeadlineExceeded {
			t.Errorf("got %v after release", err)
		}
	})
}
