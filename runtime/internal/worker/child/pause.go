package child

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxStandstill bounds one pause of a guest. Then it goes on, whatever the parent says.
const maxStandstill = 30 * time.Second

// A standstill stops the guest of one connection while it is set. It is safe for concurrent use. The zero value is usable.
type standstill struct {
	isSet atomic.Bool

	mu    sync.Mutex
	ended chan struct{} // closed when isSet is cleared; nil while it is not set; guarded by mu
}

func (s *standstill) set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case on == s.isSet.Load():
		return
	case on:
		s.ended = make(chan struct{})
	default:
		close(s.ended)
	}
	s.isSet.Store(on)
}

// pause has the guest of a call stand still, or go on. It does nothing on a nil connection, and for calls that have ended.
func (l *connection) pause(seq uint64, on bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.seq == seq && l.call != nil:
		l.still.set(on)
	case !on:
		l.early = slices.DeleteFunc(l.early, func(other uint64) bool { return other == seq })
	case len(l.early) < maxCancelled: // it has not begun, or has ended
		l.early = append(l.early, seq)
	}
}

// Pass implements [guest.Gate]: it waits while the guest must stand still. That time is not that of the call.
func (l *connection) Pass() {
	s := &l.still
	if !s.isSet.Load() {
		return
	}
	s.mu.Lock()
	ended, on := s.ended, s.isSet.Load()
	s.mu.Unlock()
	if !on {
		return
	}
	began, timer := time.Now(), time.NewTimer(maxStandstill)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		s.set(false)
	}
	l.out.Stood(time.Since(began))
}
