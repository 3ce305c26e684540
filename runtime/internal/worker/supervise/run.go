package supervise

import (
	"context"
	"time"
)

// run keeps a worker running until ctx ends.
func (s *Supervisor[W]) run(ctx context.Context, w W) {
	defer close(s.done)
	for ok := true; ok; {
		select {
		case <-w.Done():
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // also when the end of ctx ended w
			s.closeErr = w.Close()
			return
		}
		w, ok = s.next(ctx, s.onExit(w))
	}
}

// next starts workers until one runs, the first after a wait. It is not ok when ctx has ended.
func (s *Supervisor[W]) next(ctx context.Context, wait time.Duration) (w W, ok bool) {
	for pause(ctx, wait) {
		s.beginStart()
		w, err := s.cfg.Start(ctx)
		if err == nil {
			s.publish(w)
			s.cfg.Logger.Info("worker started", "starts", s.State().Starts)
			return w, true
		}
		if ctx.Err() != nil {
			break
		}
		wait = s.fail("worker not started", err, 0)
	}
	return w, false
}

// pause waits, and returns false when ctx has ended.
func pause(ctx context.Context, wait time.Duration) bool {
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

func (s *Supervisor[W]) beginStart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Starts++
	s.setPhaseLocked(Starting, time.Time{})
}

// publish makes w available to the callers that wait, and to later ones.
func (s *Supervisor[W]) publish(w W) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Phase == Closed {
		return
	}
	s.started = time.Now()
	s.current.Store(&w)
	s.setPhaseLocked(Live, time.Time{})
}

// onExit counts and logs the exit of a worker that ended by itself, and returns how long to wait before the next start.
func (s *Supervisor[W]) onExit(w W) time.Duration {
	uptime := time.Since(s.started)
	s.current.Store(nil)
	return s.fail("worker ended", w.Close(), uptime)
}

// fail counts an exit and logs it.
func (s *Supervisor[W]) fail(what string, err error, uptime time.Duration) time.Duration {
	wait, at := s.countExit(err, uptime)
	attrs := []any{"uptime", uptime, "in_a_row", at.Row, "exits", at.Exits, "next_start_in", wait, "refusing", at.Open}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	s.cfg.Logger.Warn(what, attrs...)
	return wait
}

// countExit counts an exit, and returns how long to wait before the next start, and the new state.
func (s *Supervisor[W]) countExit(err error, uptime time.Duration) (time.Duration, State) {
	random, now := s.cfg.Random(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := s.history.addExit(now, uptime, random)
	s.state.Exits++
	s.state.Err = err
	if wait > 0 {
		s.setPhaseLocked(Waiting, now.Add(wait))
	} else {
		s.setPhaseLocked(Starting, time.Time{})
	}
	return wait, s.stateLocked()
}

// setPhaseLocked changes the phase and wakes the callers that wait. Closed is final.
func (s *Supervisor[W]) setPhaseLocked(p Phase, until time.Time) {
	if s.state.Phase == Closed {
		return
	}
	s.state.Phase, s.state.Until = p, until
	close(s.changed)
	s.changed = make(chan struct{})
}
