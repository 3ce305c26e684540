package worker

import (
	"sync"
	"time"
)

// refill is how long after a worker got ready the next spare one is started: whoever waits for the first answer has the
// machine to himself.
const refill = 100 * time.Millisecond

// spares has one worker ahead while any module is open: its process is started and initialised, and waits for its start request. It
// belongs to no module, so that one will do for all, and has seen nothing of any. It is safe for concurrent use.
type spares struct {
	runner *Runner

	mu      sync.Mutex // guards the fields below
	modules int        // that are open
	next    *spare     // nil when there is none
}

// A spare is a worker to come.
type spare struct {
	hurry chan struct{} // closed when somebody waits for done
	done  chan struct{} // closed when the fields below are set

	worker *worker // nil when there is none
	err    error   // why not; nil also when nobody wants it any more
}

// enter counts a module in, and has its worker started meanwhile.
func (s *spares) enter() {
	s.mu.Lock()
	s.modules++
	s.mu.Unlock()
	s.begin(0)
}

// leave counts a module out. With the last one the spare worker goes.
func (s *spares) leave() {
	s.mu.Lock()
	s.modules--
	var next *spare
	if s.modules == 0 {
		next, s.next = s.next, nil
	}
	s.mu.Unlock()
	if w, _ := next.get(); w != nil {
		_ = w.Close() // it was of no use to anybody
	}
}

// begin sees to it that there will be a spare worker, after a while if nobody needs it before.
func (s *spares) begin(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modules == 0 || s.next != nil {
		return
	}
	s.next = &spare{hurry: make(chan struct{}), done: make(chan struct{})}
	go s.next.make(s.runner, after) // get waits for it
}

// take gives the spare worker, or a new one where that has failed or died, which then starts aside or not.
func (s *spares) take(aside bool) (*worker, error) {
	s.mu.Lock()
	next := s.next
	s.next = nil
	s.mu.Unlock()
	w, err := next.get()
	if w == nil || err != nil {
		return spawn(s.runner, aside)
	}
	select {
	case <-w.process.Done():
		s.runner.cfg.Logger.Warn("spare worker lost", "err", w.Close())
		return spawn(s.runner, aside)
	default:
		return w, nil
	}
}

func (n *spare) make(r *Runner, after time.Duration) {
	defer close(n.done)
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
		n.worker, n.err = spawn(r, after > 0 || r.Busy())
	case <-n.hurry: // who hurries can as well do it himself
	}
}

// get gives the worker when it is there; nil when there is none. It is called once.
func (n *spare) get() (*worker, error) {
	if n == nil {
		return nil, nil
	}
	close(n.hurry)
	<-n.done
	return n.worker, n.err
}
