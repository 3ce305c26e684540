package runtime

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestABoundedContextIsSafeForManyGoroutines is for the race detector.
func TestABoundedContextIsSafeForManyGoroutines(t *testing.T) {
	b := newBounded(t.Context(), time.Minute)
	defer b.release()
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
		b.extend(time.Now().Add(time.Minute + time.Duration(i)*time.Second))
	}
	others.Wait()
}

func TestExtendingABoundedContextAllocatesNothing(t *testing.T) {
	b := newBounded(t.Context(), time.Minute)
	defer b.release()
	b.Done()
	deadline, _ := b.Deadline()
	n := testing.AllocsPerRun(1000, func() {
		deadline = deadline.Add(time.Millisecond)
		b.extend(deadline)
	})
	if n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

func TestABoundedContextEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(b *bounded, cancel context.CancelFunc)
		want error
	}{
		{"at its deadline", func(*bounded, context.CancelFunc) { time.Sleep(time.Second) }, context.DeadlineExceeded},
		{"at a deadline that was moved twice", func(b *bounded, _ context.CancelFunc) {
			b.extend(b.began.Add(2 * time.Second))
			b.extend(b.began.Add(3 * time.Second))
			b.extend(b.began.Add(time.Second)) // sooner: no effect
			time.Sleep(3*time.Second - time.Nanosecond)
			if b.Err() != nil {
				panic("it has ended before the moved deadline")
			}
			time.Sleep(time.Nanosecond)
		}, context.DeadlineExceeded},
		{"with its parent", func(_ *bounded, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"when released", func(b *bounded, _ context.CancelFunc) { b.release() }, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(t.Context())
				defer cancel()
				b := newBounded(parent, time.Second)
				defer b.release()
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

// TestABoundedContextThatHasEndedStaysSo asks for the error before a goroutine waits.
func TestABoundedContextThatHasEndedStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBounded(t.Context(), time.Second)
		time.Sleep(time.Second)
		if err := b.Err(); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		b.extend(time.Now().Add(time.Minute))
		<-b.Done()
		b.release()
		if err := b.Err(); err != context.DeadlineExceeded {
			t.Errorf("got %v after release", err)
		}
	})
}
