package stdio

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrewForgetsWhatIsDone keeps some jobs waiting all the time, as a client does that has many requests under way.
func TestCrewForgetsWhatIsDone(t *testing.T) {
	const jobs, ahead = 20_000, 40
	var c *crew
	var done sync.WaitGroup
	done.Add(jobs)
	var mu sync.Mutex
	left := jobs - ahead
	c = newCrew(2, func(*flight) {
		mu.Lock()
		more := left > 0
		left--
		mu.Unlock()
		if more {
			c.add(&flight{})
		}
		done.Done()
	}, func() {})
	for range ahead {
		c.add(&flight{})
	}
	done.Wait()
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, most := cap(c.jobs), 16*ahead; got > most {
		t.Errorf("got room for %d jobs, want at most %d", got, most)
	}
}

// TestCrewGrowsWhenItWaits has all of the usual goroutines wait for a job behind them.
func TestCrewGrowsWhenItWaits(t *testing.T) {
	const slow = 30
	release, quick := make(chan struct{}), &flight{}
	var done sync.WaitGroup
	c := newCrew(slow+1, func(f *flight) {
		defer done.Done()
		if f == quick {
			close(release)
		}
		<-release
	}, func() {})
	done.Add(slow + 1)
	for range slow {
		c.add(&flight{})
	}
	c.add(quick)
	done.Wait()
	c.end()
}

// TestABurstOfSlowJobsIsDoneAtOnce has none of them wait for more than a few others.
func TestABurstOfSlowJobsIsDoneAtOnce(t *testing.T) {
	const jobs, each = 64, 5 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var done sync.WaitGroup
		c := newCrew(jobs, func(*flight) {
			<-time.After(each)
			done.Done()
		}, func() {})
		began := time.Now()
		done.Add(jobs)
		for range jobs {
			c.add(&flight{})
		}
		done.Wait()
		c.end()
		if got, most := time.Since(began), each+2*stall; got > most {
			t.Errorf("got %v for all, want at most %v", got, most)
		}
	})
}

// TestOnlyAFewStay counts who is left of a crew when there is nothing to do, and when it has ended.
func TestOnlyAFewStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 100
		c := newCrew(jobs, func(*flight) { <-time.After(10 * stall) }, func() {})
		at := func() int {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.at
		}
		for range 3 {
			for range jobs {
				c.add(&flight{})
			}
			time.Sleep(5 * stall)
			if got := at(); got != jobs {
				t.Errorf("%d are at work, want %d", got, jobs)
			}
			time.Sleep(20 * stall)
			if got := at(); got != c.few {
				t.Errorf("%d have stayed, want %d", got, c.few)
			}
		}
		c.end()
		if got := at(); got != 0 {
			t.Errorf("%d have stayed after the end", got)
		}
	})
}

// A tap is an output whose writes wait to be let through.
type tap struct {
	began   chan string
	through chan struct{}
	all     bytes.Buffer
}

func (o *tap) Write(p []byte) (int, error) {
	o.began <- string(p)
	<-o.through
	return o.all.Write(p)
}

// TestLongLineHasItsTurn has short lines come all the time: each while one before is written.
func TestLongLineHasItsTurn(t *testing.T) {
	out := &tap{began: make(chan string), through: make(chan struct{})}
	w := newWriter(out)
	if err := w.write([]byte("first\n"), nil); err != nil {
		t.Fatal(err)
	}
	<-out.began
	held := make(chan error, 1)
	go func() {
		err := w.hold(nil)
		if err == nil {
			err = w.put([]byte("long\n"))
		}
		w.release(err)
		held <- err
	}()
	for waits := false; !waits; runtime.Gosched() {
		w.mu.Lock()
		waits = w.holders == 1
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

// TestAQuickAnswerDoesNotWaitForASlowOne has a slow job come right after one that has left its line to be gathered.
func TestAQuickAnswerDoesNotWaitForASlowOne(t *testing.T) {
	const long = time.Second
	synctest.Test(t, func(t *testing.T) {
		var out arrivals
		w := newWriter(&out)
		quick, slow, both := &flight{}, &flight{}, make(chan struct{})
		var done sync.WaitGroup
		var c *crew
		c = newCrew(1, func(f *flight) {
			defer done.Done()
			<-both
			if f == slow {
				<-time.After(long)
			}
			left, err := w.gather([]byte("line\n"), f, c.more())
			if err != nil {
				t.Error(err)
			}
			if left {
				c.remind()
			}
		}, w.kick)
		began := time.Now()
		done.Add(2)
		c.add(quick)
		c.add(slow)
		close(both)
		done.Wait()
		c.end()
		w.close()
		<-w.ended
		if len(out.at) != 2 || out.at[0].Sub(began) > 2*stall {
			t.Errorf("lines arrived at %v after %v", out.at, began)
		}
	})
}

// arrivals notes when something is written.
type arrivals struct{ at []time.Time }

func (a *arrivals) Write(p []byte) (int, error) {
	a.at = append(a.at, time.Now())
	return len(p), nil
}
