package supervise

import "time"

// A Phase is what a supervisor is about.
type Phase uint8

// What a supervisor is about.
const (
	Live     Phase = iota // a worker lives
	Starting              // one is being started
	Waiting               // the next start is due later
	Closed                // Close was called
)

// String gives the stable name used in logs and metrics, as in "live".
func (p Phase) String() string {
	switch p {
	case Live:
		return "live"
	case Starting:
		return "starting"
	case Waiting:
		return "waiting"
	}
	return "closed"
}

// A State is what a supervisor is about at one moment, and what it has counted.
type State struct {
	Phase Phase
	Until time.Time // when the next start is due; zero unless Waiting
	// Open says that the breaker is open: callers are refused unless a worker lives.
	Open bool
	// Starts counts all starts, Ends the workers that have ended and the starts that have failed. What Close ends is
	// not counted.
	Starts, Ends uint64
	// Row is how many of the ends, counted from the last, are not forgotten.
	Row int
	Err error // what the last worker that ended, or start that failed, said; nil for nothing, or when there was none
}

// State gives the state. It never waits.
func (s *Supervisor[W]) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateLocked()
}

func (s *Supervisor[W]) stateLocked() State {
	at := s.state
	if at.Phase != Live || time.Since(s.born) < s.cfg.Steady {
		at.Open, at.Row = s.record.open, s.record.row
	}
	return at
}
