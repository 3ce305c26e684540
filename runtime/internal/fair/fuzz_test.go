package fair_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/fair"
)

// A script is what one call does, by two bytes.
type script struct {
	owner           int
	begins          time.Duration
	computes, waits time.Duration // twice, and once in between
	patience, gone  time.Duration
}

func scriptOf(a, b byte) script {
	s := script{
		owner: int(a & 3), begins: time.Duration(a>>2) * 300 * time.Microsecond, computes: time.Duration(b&15) * 700 * time.Microsecond,
		patience: time.Hour, gone: time.Hour,
	}
	if b&16 != 0 {
		s.waits = 5 * ms
	}
	if b&32 != 0 {
		s.patience = 3 * ms
	}
	if b&64 != 0 {
		s.gone = 4 * ms
	}
	if b&128 != 0 {
		s.computes *= 8
	}
	return s
}

// An actor is one call.
type actor struct {
	task
	turn fair.Turn

	holds bool // it has a slot, unless it was paused; guarded by task.mu
}

func (a *actor) hold(holds bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.holds = holds
}

func (a *actor) runs() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holds && !a.halt
}

func (a *actor) compute(o *owner, d time.Duration) {
	for ; d > 0; d -= 100 * time.Microsecond {
		a.step()
		time.Sleep(100 * time.Microsecond)
		o.mu.Lock()
		o.used += 100 * time.Microsecond
		o.mu.Unlock()
	}
}

func (a *actor) play(t *testing.T, o *owner, s script) {
	time.Sleep(s.begins)
	ctx, cancel := context.WithTimeout(t.Context(), s.gone)
	defer cancel()
	a.turn.Init(o.Share, a)
	defer func() {
		a.hold(false)
		a.turn.Leave(s.computes)
	}()
	if a.turn.Enter(ctx, o.meter, s.patience) != nil {
		return
	}
	a.hold(true)
	a.compute(o, s.computes/2)
	if s.waits > 0 {
		a.hold(false)
		a.turn.Yield(s.computes / 2)
		time.Sleep(s.waits)
		if a.turn.Resume(ctx, s.patience) != nil {
			return
		}
		a.hold(true)
	}
	a.compute(o, s.computes/2)
}

// FuzzQueue has calls that compute, wait for others, give up and are paused. At no time more of them run than there are slots, no
// slot is free while one waits, and all come to their end.
func FuzzQueue(f *testing.F) {
	f.Add(byte(2), []byte("\x00\x8f\x01\x8f\x02\x8f\x03\x8f\x00\x1f\x01\x2f\x02\x4f\x03\x7f\x05\xff\x09\x01\x0a\x02"))
	f.Add(byte(1), []byte("\x00\x8f\x00\x8f\x00\x8f\x04\x81\x05\x03\x11\x9f\x12\xbf\x13\xdf"))
	f.Add(byte(7), []byte("zyxwvutsrqponmlkjihgfedcba9876543210AZBYCXDWEVFU"))
	f.Fuzz(func(t *testing.T, size byte, calls []byte) {
		synctest.Test(t, func(t *testing.T) {
			slots := 1 + int(size&3)
			q := newQueue(t, fair.Config{Slots: slots, MaxWaiting: 40, MaxWaitingOfShare: 20})
			owners := []*owner{newOwner(q, 1).metered(), newOwner(q, 3).metered(), newOwner(q, 1), newOwner(q, 1000).metered()}
			var actors []*actor
			var all sync.WaitGroup
			for i := 0; i+1 < len(calls) && i < 200; i += 2 {
				s := scriptOf(calls[i], calls[i+1])
				a := &actor{}
				a.goes = sync.NewCond(&a.mu)
				actors = append(actors, a)
				all.Go(func() { a.play(t, owners[s.owner], s) })
			}
			done := make(chan struct{})
			go func() {
				all.Wait()
				close(done)
			}()
			for ended := false; !ended; {
				time.Sleep(130 * time.Microsecond)
				synctest.Wait()
				check(t, q, actors, slots)
				select {
				case <-done:
					ended = true
				default:
				}
			}
			if s := q.Stats(); s.Running != 0 || s.Waiting != 0 {
				t.Errorf("at the end: %+v", s)
			}
		})
	})
}

func check(t *testing.T, q *fair.Queue, actors []*actor, slots int) {
	running := 0
	for _, a := range actors {
		if a.runs() {
			running++
		}
	}
	s := q.Stats()
	if running > slots || s.Running > slots || s.Waiting > 0 && s.Running < slots {
		t.Fatalf("%d calls run, %+v", running, s)
	}
}
