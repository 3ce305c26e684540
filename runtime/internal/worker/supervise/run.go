package supervise

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// run keeps a worker running until the supervisor closes, or a worker is stopped.
func (s *Supervisor[W]) run(l *life[W]) {
	for ok := true; ok; {
		s.watch(l)
		if s.ctx.Err() != nil { // also when the end of ctx ended the worker
			s.closeLast(l)
			return
		}
		if !s.takeEnded(l) {
			_ = l.worker.Close() // no caller uses it
			s.cfg.Logger.Debug("worker stopped", "uptime", time.Since(l.began))
			return
		}
		uptime := time.Since(l.began)
		l, ok = s.next(s.fail("worker ended", l.worker.Close(), uptime), slog.LevelInfo)
	}
}

// watch returns when the worker has ended or was stopped, or the supervisor closes. It stops the worker when that has
// been unused for long.
func (s *Supervisor[W]) watch(l *life[W]) {
	idle := time.NewTimer(s.untilIdle(l))
	defer idle.Stop()
	for ; ; idle.Reset(s.untilIdle(l)) {
		select {
		case <-l.worker.Done():
			return
		case <-l.stopped:
			return
		case <-s.ctx.Done():
			return
		case <-idle.C:
			if s.cfg.Idle != nil {
				s.Stop(s.cfg.Idle())
			}
		}
	}
}

// closeLast ends the last worker, for Close.
func (s *Supervisor[W]) closeLast(l *life[W]) {
	err := l.worker.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeErr = err
}

// takeEnded takes a worker that has ended away from callers. It returns false if the worker was stopped before.
func (s *Supervisor[W]) takeEnded(l *life[W]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-l.stopped:
		return false
	default:
	}
	s.current.Store(nil)
	return true
}

// errAbandoned is the error of a start that no caller waited for.
var errAbandoned = errors.New("no caller waits")

// next starts workers until one runs, the first after a wait, and logs that at a level. It is not ok when the supervisor
// closes, or no caller wants a worker.
func (s *Supervisor[W]) next(wait time.Duration, level slog.Level) (l *life[W], ok bool) {
	for pause(s.ctx, wait) && s.beginStart() {
		w, err := s.start()
		if err == nil {
			s.cfg.Logger.Log(s.ctx, level, "worker started", "starts", s.State().Starts) // before a caller can be done with it
			l := s.publish(w)
			if s.users.Load() == 0 {
				s.cfg.Unused()
			}
			return l, true
		}
		if s.ctx.Err() != nil {
			break
		}
		wait = 0
		if err != errAbandoned {
			wait = s.fail("worker not started", err, 0)
		}
	}
	return nil, false
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

// beginStart returns false when no caller wants a worker: then the supervisor is stopped.
func (s *Supervisor[W]) beginStart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Idle != nil && s.users.Load() == 0 {
		s.setPhaseLocked(Stopped, time.Time{})
		return false
	}
	s.setPhaseLocked(Starting, time.Time{})
	return true
}

// start prepares and starts a worker.
func (s *Supervisor[W]) start() (w W, err error) {
	if err := s.prepare(); err != nil {
		return w, err
	}
	s.mu.Lock()
	s.state.Starts++
	s.setPhaseLocked(Starting, time.Time{})
	s.mu.Unlock()
	return s.cfg.Start(s.ctx)
}

// prepare runs Config.Prepare. The error is errAbandoned when the last caller went away meanwhile.
func (s *Supervisor[W]) prepare() error {
	if s.cfg.Prepare == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	s.setQueued(cancel)
	err := s.cfg.Prepare(ctx)
	s.setQueued(nil)
	if err != nil && ctx.Err() != nil {
		return errAbandoned
	}
	return err
}

// setQueued begins the phase Queued, in which abandon ends the wait, or ends it if abandon is nil.
func (s *Supervisor[W]) setQueued(abandon context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if abandon == nil {
		s.abandon = nil
		s.queued.Store(false)
		return
	}
	s.setPhaseLocked(Queued, time.Time{})
	if s.cfg.Idle == nil {
		return
	}
	s.abandon = abandon
	s.queued.Store(true)
	if s.users.Load() == 0 { // a caller that leaves later sees queued
		abandon()
	}
}

// publish makes w available to the callers that wait, and to later ones.
func (s *Supervisor[W]) publish(w W) *life[W] {
	l := &life[W]{worker: w, began: time.Now(), stopped: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Phase == Closed {
		return l
	}
	s.trial = false
	s.current.Store(l)
	s.setPhaseLocked(Live, time.Time{})
	return l
}

// fail counts an exit and logs it. It returns how long to wait before the next start.
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
	s.trial = false
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
