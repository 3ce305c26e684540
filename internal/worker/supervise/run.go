package supervise

import (
	"context"
	"time"
)

// run keeps a worker alive until ctx ends.
func (s *Supervisor[W]) run(ctx context.Context, w W) {
	defer close(s.gone)
	for ok := true; ok; {
		select {
		case <-w.Done():
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // also when w has ended because of that
			s.closeErr = w.Close()
			return
		}
		w, ok = s.next(ctx, s.bury(w))
	}
}

// next starts workers until one lives, the first after a wait; false when ctx has ended.
func (s *Supervisor[W]) next(ctx context.Context, wait time.Duration) (w W, ok bool) {
	for pause(ctx, wait) {
		s.begin()
		w, err := s.cfg.Start(ctx)
		if err == nil {
			s.enter(w)
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

// pause waits; false when ctx has ended.
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

func (s *Supervisor[W]) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Starts++
	s.turnLocked(Starting, time.Time{})
}

// enter gives w to those who wait, and to all that come.
func (s *Supervisor[W]) enter(w W) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Phase == Closed {
		return
	}
	s.born = time.Now()
	s.live.Store(&w)
	s.turnLocked(Live, time.Time{})
}

// bury sees to a worker that has ended by itself, and gives how long to wait before the next start.
func (s *Supervisor[W]) bury(w W) time.Duration {
	lived := time.Since(s.born)
	s.live.Store(nil)
	return s.fail("worker ended", w.Close(), lived)
}

// fail counts an end and logs what happened.
func (s *Supervisor[W]) fail(what string, err error, lived time.Duration) time.Duration {
	wait, at := s.count(err, lived)
	attrs := []any{"lived", lived, "in_a_row", at.Row, "ends", at.Ends, "next_start_in", wait, "refusing", at.Open}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	s.cfg.Logger.Warn(what, attrs...)
	return wait
}

// count counts an end, and gives how long to wait before the next start and the state that follows.
func (s *Supervisor[W]) count(err error, lived time.Duration) (time.Duration, State) {
	random, now := s.cfg.Random(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := s.record.end(now, lived, random)
	s.state.Ends++
	s.state.Err = err
	if wait > 0 {
		s.turnLocked(Waiting, now.Add(wait))
	} else {
		s.turnLocked(Starting, time.Time{})
	}
	return wait, s.stateLocked()
}

// turnLocked changes the phase and has all who wait look again. Nothing comes after Closed.
func (s *Supervisor[W]) turnLocked(p Phase, until time.Time) {
	if s.state.Phase == Closed {
		return
	}
	s.state.Phase, s.state.Until = p, until
	close(s.changed)
	s.changed = make(chan struct{})
}
