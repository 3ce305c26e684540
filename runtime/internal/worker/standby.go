package worker

import (
	"slices"
	"sync"
	"time"
)

// standbyDelay is how long after a worker is ready the missing standby workers start, so that they do not slow the first
// call.
const standbyDelay = 100 * time.Millisecond

// A standby has workers ready while any module is open: their processes are initialised, and wait for their start requests.
// They serve all modules, since they belong to none and have received data of none. It is safe for concurrent use.
type standby struct {
	// fixed at creation
	runner *Runner
	size   int

	mu      sync.Mutex // guards the fields below
	modules int        // that are open
	next    []*standbyWorker
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
	defer s.mu.Unlock()
	s.modules++
	if len(s.next) == 0 {
		s.startNextLocked(0)
	}
}

// remove subtracts a module. With the last one the standby workers end.
func (s *standby) remove() {
	s.mu.Lock()
	s.modules--
	var next []*standbyWorker
	if s.modules == 0 {
		next, s.next = s.next, nil
	}
	s.mu.Unlock()
	for _, n := range next {
		if w, _ := n.get(); w != nil {
			_ = w.Close() // it was never used
		}
	}
}

// fill starts standby workers after a delay, as many as are missing.
func (s *standby) fill(delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.modules > 0 && len(s.next) < s.size {
		s.startNextLocked(delay)
	}
}

func (s *standby) startNextLocked(delay time.Duration) {
	n := &standbyWorker{wanted: make(chan struct{}), done: make(chan struct{})}
	s.next = append(s.next, n)
	go n.start(s.runner, delay) // get waits for it
}

// acquire returns a standby worker, or a new one if there is none or it has failed or ended. background says whether a
// new one starts in the background.
func (s *standby) acquire(background bool) (*worker, error) {
	w, err := s.take().get()
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

// take removes the standby worker that is there for longest, if possible one that is ready; nil when there is none.
func (s *standby) take() *standbyWorker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.next) == 0 {
		return nil
	}
	i := max(0, slices.IndexFunc(s.next, (*standbyWorker).isReady))
	n := s.next[i]
	s.next = slices.Delete(s.next, i, i+1)
	return n
}

// isReady reports whether get does not wait.
func (n *standbyWorker) isReady() bool {
	select {
	case <-n.done:
		return true
	default:
		return false
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
