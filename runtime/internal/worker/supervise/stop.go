package supervise

import (
	"log/slog"
	"math"
	"time"
)

// Stop stops the worker if it runs and no caller has used it for so long. The stop is no exit: the next Acquire starts a
// worker at once, also while the stopped one still ends. Stop does not wait for that end. It reports whether it has
// stopped the worker.
func (s *Supervisor[W]) Stop(unused time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.current.Swap(nil)
	if l == nil {
		return false
	}
	if s.users.Load() > 0 || s.unused(l) < unused {
		s.current.Store(l) // a caller that found none polls under mu
		return false
	}
	s.history.noteUptime(time.Since(l.began))
	s.state.Stops++
	s.setPhaseLocked(Stopped, time.Time{})
	close(l.stopped)
	return true
}

// Unused returns for how long no caller has used the running worker. It is not ok if one uses it, or none runs.
func (s *Supervisor[W]) Unused() (idle time.Duration, ok bool) {
	l := s.current.Load()
	if l == nil || s.users.Load() > 0 {
		return 0, false
	}
	return s.unused(l), true
}

// unused returns how long ago a worker was last used, or was ready.
func (s *Supervisor[W]) unused(l *life[W]) time.Duration {
	released := s.opened.Add(time.Duration(s.lastUsed.Load()))
	return min(time.Since(released), time.Since(l.began))
}

// untilIdle returns after which time the worker may be due to be stopped.
func (s *Supervisor[W]) untilIdle(l *life[W]) time.Duration {
	if s.cfg.Idle == nil {
		return math.MaxInt64
	}
	wait := s.cfg.Idle()
	if s.users.Load() == 0 {
		wait -= s.unused(l)
	}
	return max(wait, 1)
}

// startAgainLocked begins to start a worker for a caller after a stop.
func (s *Supervisor[W]) startAgainLocked() {
	s.trial = true
	s.setPhaseLocked(Starting, time.Time{})
	s.running.Go(func() {
		if l, ok := s.next(0, slog.LevelDebug); ok {
			s.run(l)
		}
	})
}

// abandonStart ends the wait of a start that no caller waits for any more.
func (s *Supervisor[W]) abandonStart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.abandon != nil && s.users.Load() == 0 {
		s.abandon()
	}
}
