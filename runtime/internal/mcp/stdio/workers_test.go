package stdio

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A queue that is never empty, as of a client with many requests under way, does not grow.
func TestTheQueueForgetsWhatIsDone(t *testing.T) {
	const jobs, ahead = 20_000, 40
	var c *workers
	var done sync.WaitGroup
	done.Add(jobs)
	var mu sync.Mutex
	left := jobs - ahead
	c = newWorkers(2, func(*pendingRequest) {
		mu.Lock()
		more := left > 0
		left--
		mu.Unlock()
		if more {
			c.add(&pendingRequest{})
		}
		done.Done()
	}, func() {})
	for range ahead {
		c.add(&pendingRequest{})
	}
	done.Wait()
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, most := cap(c.queue), 16*ahead; got > most {
		t.Errorf("got room for %d requests, want at most %d", got, most)
	}
}

// When the goroutines that stay all wait for a request behind them, another starts.
func TestWorkersAreAddedWhenAllWait(t *testing.T) {
	const slow = 30
	release, quick := make(chan struct{}), &pendingRequest{}
	var done sync.WaitGroup
	c := newWorkers(slow+1, func(f *pendingRequest) {
		defer done.Done()
		if f == quick {
			close(release)
		}
		<-release
	}, func() {})
	done.Add(slow + 1)
	for range slow {
		c.add(&pendingRequest{})
	}
	c.add(quick)
	done.Wait()
	c.end()
}

// Of many slow requests at once, none waits for another.
func TestABurstOfSlowRequestsRunsAtOnce(t *testing.T) {
	const jobs, each = 64, 5 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var done sync.WaitGroup
		c := newWorkers(jobs, func(*pendingRequest) {
			<-time.After(each)
			done.Done()
		}, func() {})
		began := time.Now()
		done.Add(jobs)
		for range jobs {
			c.add(&pendingRequest{})
		}
		done.Wait()
		c.end()
		if got, most := time.Since(began), each+2*maxQueueTime; got > most {
			t.Errorf("got %v for all, want at most %v", got, most)
		}
	})
}

// Goroutines that were added end when there is nothing to do, and all do after end.
func TestOnlyAFewStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 100
		c := newWorkers(jobs, func(*pendingRequest) { <-time.After(10 * maxQueueTime) }, func() {})
		at := func() int {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.running
		}
		for range 3 {
			for range jobs {
				c.add(&pendingRequest{})
			}
			time.Sleep(5 * maxQueueTime)
			if got := at(); got != jobs {
				t.Errorf("%d goroutines run, want %d", got, jobs)
			}
			time.Sleep(20 * maxQueueTime)
			if got := at(); got != c.minWorkers {
				t.Errorf("%d goroutines have stayed, want %d", got, c.minWorkers)
			}
		}
		c.end()
		if got := at(); got != 0 {
			t.Errorf("%d goroutines have stayed after the end", got)
		}
	})
}

// A gatedOutput is an output whose writes wait for a token.
type gatedOutput struct {
	began   chan string
	through chan struct{}
	all     bytes.Buffer
}

func (o *gatedOutput) Write(p []byte) (int, error) {
	o.began <- string(p)
	<-o.through
	return o.all.Write(p)
}

// A long line is written soon, even if a short one comes during each write.
func TestALongLineIsNotDelayedByShortOnes(t *testing.T) {
	out := &gatedOutput{began: make(chan string), through: make(chan struct{})}
	w := newWriter(out)
	if err := w.write([]byte("first\n"), nil); err != nil {
		t.Fatal(err)
	}
	<-out.began
	held := make(chan error, 1)
	go func() {
		err := w.lock(nil)
		if err == nil {
			err = w.writeRaw([]byte("long\n"))
		}
		w.unlock(err)
		held <- err
	}()
	for waits := false; !waits; runtime.Gosched() {
		w.mu.Lock()
		waits = w.lockers == 1
		w.mu.Unlock()
	}
	long := false
	for round := 0; round < 1000 && !long; round++ {
		if err := w.write([]byte("short\n"), nil); err != nil {
			t.Fatal(err)
		}
		out.through <- struct{}{}
		long = <-out.began == "long\n"
	}
	if !long {
		t.Error("the long line has not been written after 1000 short ones")
	}
	close(out.through)
	go func() {
		for range out.began {
		}
	}()
	w.close()
	<-w.ended
	if long {
		if err := <-held; err != nil {
			t.Error(err)
		}
	}
	close(out.began)
}

// A line that was left in the batch is written though the request after it is slow.
func TestAQuickAnswerDoesNotWaitForASlowOne(t *testing.T) {
	const long = time.Second
	synctest.Test(t, func(t *testing.T) {
		var out arrivals
		w := newWriter(&out)
		quick, slow, both := &pendingRequest{}, &pendingRequest{}, make(chan struct{})
		var done sync.WaitGroup
		var c *workers
		c = newWorkers(1, func(f *pendingRequest) {
			defer done.Done()
			<-both
			if f == slow {
				<-time.After(long)
			}
			left, err := w.batch([]byte("line\n"), f, c.hasMore())
			if err != nil {
				t.Error(err)
			}
			if left {
				c.scheduleFlush()
			}
		}, w.flush)
		began := time.Now()
		done.Add(2)
		c.add(quick)
		c.add(slow)
		close(both)
		done.Wait()
		c.end()
		w.close()
		<-w.ended
		if len(out.at) != 2 || out.at[0].Sub(began) > 2*maxQueueTime {
			t.Errorf("lines arrived at %v after %v", out.at, began)
		}
	})
}

// arrivals has the times of writes.
type arrivals struct{ at []time.Time }

func (a *arrivals) Write(p []byte) (int, error) {
	a.at = append(a.at, time.Now())
	return len(p), nil
}
