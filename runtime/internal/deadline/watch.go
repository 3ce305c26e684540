package deadline

import (
	"sync"
	"time"
)

// A Watch calls a function when a wait takes too long. It is for many short waits, one after the other: it leaves the timer
// of a wait that has ended running for the next, because to set a timer of Go may wake a thread, which takes longer than a
// short wait. [NewWatch] makes one. It is safe for concurrent use, and needs no closing: its timer expires by itself.
type Watch struct {
	late  func()
	timer *time.Timer // calls expire

	mu      sync.Mutex // guards the fields below
	due     time.Time  // when the wait is late; zero for no wait
	expires time.Time  // when timer does; zero when it does not run
}

// NewWatch makes a watch that calls late, on a goroutine of its own.
func NewWatch(late func()) *Watch {
	w := &Watch{late: late}
	w.timer = time.AfterFunc(time.Hour, w.expire)
	w.timer.Stop()
	return w
}

// Start begins a wait, which is late at due. It ends a wait that was begun before.
func (w *Watch) Start(due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startLocked(due)
}

// StartSooner begins a wait as Start does, unless one is under way that is late before due.
func (w *Watch) StartSooner(due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due.IsZero() || due.Before(w.due) {
		w.startLocked(due)
	}
}

func (w *Watch) startLocked(due time.Time) {
	w.due = due
	if w.expires.IsZero() || due.Before(w.expires) {
		w.setLocked(due)
	}
}

// Stop ends the wait. It returns false if there was none, or if the wait was late: then the function has been called, and
// may still run.
func (w *Watch) Stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	waited := !w.due.IsZero()
	w.due = time.Time{}
	return waited
}

func (w *Watch) setLocked(at time.Time) {
	w.expires = at
	w.timer.Reset(time.Until(at))
}

// expire calls late, or sets the timer for a wait that has begun since.
func (w *Watch) expire() {
	if w.isLate() {
		w.late()
	}
}

func (w *Watch) isLate() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expires = time.Time{}
	switch {
	case w.due.IsZero():
		return false
	case time.Now().Before(w.due):
		w.setLocked(w.due)
		return false
	}
	w.due = time.Time{}
	return true
}
