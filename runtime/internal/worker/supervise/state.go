package supervise

import "time"

// A Phase is a phase of a supervisor.
type Phase uint8

// The phases.
const (
	Live     Phase = iota // a worker runs
	Starting              // one is being started
	Waiting               // the next start comes after a wait
	Queued                // Config.Prepare runs
	Stopped               // no worker runs, and the next caller starts one
	Closed                // Close was called
)

// String returns the stable name used in logs and metrics, as in "live".
func (p Phase) String() string {
	switch p {
	case Live:
		return "live"
	case Starting:
		return "starting"
	case Waiting:
		return "waiting"
	case Queued:
		return "queued"
	case Stopped:
		return "stopped"
	}
	return "closed"
}

// A State is the state of a supervisor at one moment, with its counts.
type State struct {
	Phase Phase
	Until time.Time // when the next start is due; zero unless Waiting
	// Open reports whether the breaker is open: then callers are refused unless a worker runs, or one of them has begun a
	// start when none was due.
	Open bool
	// Starts counts all starts, Stops the workers that were stopped, Exits the workers that have ended and the starts that
	// have failed. A worker that Close ends is not counted.
	Starts, Stops, Exits uint64
	// Row is how many exits in a row count, up to the last one.
	Row int
	Err error // of the last worker that ended, or start that failed; nil when there was none
}

// State returns the state. It never waits.
func (s *Supervisor[W]) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateLocked()
}

func (s *Supervisor[W]) stateLocked() State {
	at := s.state
	if l := s.current.Load(); l == nil || time.Since(l.began) < s.cfg.StableAfter {
		at.Open, at.Row = s.history.open, s.history.row
	}
	return at
}
