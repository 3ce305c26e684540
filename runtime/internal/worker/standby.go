package worker

import (
	"sync"
	"time"
)

// standbyDelay is how long after a worker is ready the next standby worker starts, so that it does not slow the first
// call.
const standbyDelay = 100 * time.Millisecond

// A standby has one worker ready while any module is open: its process is initialised, and waits for its start request.
// One is enough for all modules, since it belongs to none and has received data of none. It is safe for concurrent use.
type standby struct {
	runner *Runner

	mu      sync.Mutex // guards the fields below
	modules int        // that are open
	next    *standbyWorker
}

// A standbyWorker is a worker that is being started, or is ready. A nil one is none.
type standbyWorker struct {
	wanted chan struct{} // closed when a goroutine waits for done
	done   chan struct{} // closed when the fields below are set

	worker *worker // nil when there is none
	err    error   // why there is none; nil also when it was wanted before its start
}

// add counts a module, and starts a standby worker for it at once.
func (s *standby) add() {
	s.mu.Lock()
	s.modules++
	s.mu.Unlock()
	s.startNext(0)
}

// remove subtracts a module. With the last one the standby worker ends.
func (s *standby) remove() {
	s.mu.Lock()
	s.modules--
	var next *standbyWorker
	if s.modules == 0 {
		next, s.next = s.next, nil
	}
	s.mu.Unlock()
	if w, _ := next.get(); w != nil {
		_ = w.Close() // it was never used
	}
}

// startNext starts a standby worker after a delay, unless there is one.
func (s *standby) startNext(delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modules == 0 || s.next != nil {
		return
	}
	s.next = &standbyWorker{wanted: make(chan struct{}), done: make(chan struct{})}
	go s.next.start(s.runner, delay) // get waits for it
}

// acquire returns the standby worker, or a new one if it has failed or ended. background says whether a new one starts
// in the background.
func (s *standby) acquire(background bool) (*worker, error) {
	s.mu.Lock()
	next := s.next
	s.next = nil
	s.mu.Unlock()
	w, err := next.get()
	if w == nil || err != nil {
		return spawn(s.runner, background)
	}
	select {
	case <-w.process.Done():
		s.runner.cfg.Logger.Warn("standby worker lost", "err", w.Close())
		return spawn(s.runner, background)
	default:
		return w, nil
	}
}

func (n *standbyWorker) start(r *Runner, delay time.Duration) {
	defer close(n.done)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		n.worker, n.err = spawn(r, delay > 0 || r.Busy())
	case <-n.wanted: // the goroutine that waits starts one itself
	}
}

// get waits for the worker and returns it; nil when there is none. It may be called once.
func (n *standbyWorker) get() (*worker, error) {
	if n == nil {
		return nil, nil
	}
	close(n.wanted)
	<-n.done
	return n.worker, n.err
}
