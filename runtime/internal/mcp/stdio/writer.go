package stdio

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// gather is how much may wait to be written, in bytes. Whoever has more to write waits, so that a client that does
	// not read slows down those who write rather than filling memory.
	gather = 256 << 10
	// alone is the size of a line that is written by itself, in bytes: to gather it would be to copy it.
	alone = 64 << 10
	// together is for how long lines that come one right after the other are gathered, to leave with one write.
	together = 100 * time.Microsecond
	// large is of how many bytes on it is worth to make room for them.
	large = 512 << 10
)

// A writer writes whole lines. Those that come while others are being written leave together with the next write.
type writer struct {
	// fixed at creation
	out    io.Writer
	broken chan struct{} // closed when a write has failed
	ended  chan struct{} // closed when nothing is written any more

	mu      sync.Mutex // guards the fields below
	work    *sync.Cond // run has something to do
	room    *sync.Cond // others may have
	busy    bool       // somebody writes
	holders int        // who wait for their turn, which is before that of run
	closed  bool
	waiting []byte    // lines
	since   time.Time // the first of them came
	spare   []byte    // takes the place of waiting
	err     error

	// owned by who writes
	widened bool // a large piece has been written
	atOnce  int  // bytes of one write then; 0 for any number
}

// newWriter makes a writer, to be closed.
func newWriter(out io.Writer) *writer {
	w := &writer{out: out, broken: make(chan struct{}), ended: make(chan struct{})}
	w.work, w.room = sync.NewCond(&w.mu), sync.NewCond(&w.mu)
	go w.run()
	return w
}

// run writes what has gathered, whenever there is something, until close.
func (w *writer) run() {
	defer close(w.ended)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for w.busy || w.holders > 0 || len(w.waiting) == 0 {
			if w.closed && !w.busy && len(w.waiting) == 0 {
				return
			}
			w.work.Wait()
		}
		w.writeLocked()
	}
}

// writeLocked writes what has gathered, when nobody else writes.
func (w *writer) writeLocked() {
	w.busy = true
	w.releaseLocked(w.emptyLocked())
}

// emptyLocked writes what has gathered. It is called by whoever is the one to write.
func (w *writer) emptyLocked() error {
	lines := w.waiting
	w.waiting = w.spare[:0]
	w.mu.Unlock()
	err := w.put(lines)
	w.mu.Lock()
	w.spare = lines[:0]
	return err
}

// write writes a line, its end included, unless f has been cancelled by then. A nil f cannot be. What it returns is of
// lines before this one, unless this one is long.
func (w *writer) write(line []byte, f *flight) error {
	if len(line) >= alone {
		return w.writeAlone(line, f)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.addLocked(line, f); err != nil {
		return err
	}
	w.work.Signal()
	return nil
}

// gather does as write, in this goroutine rather than in that of run. Where more says that the next line comes at once,
// this one may be left to wait for it; then kick must be called, sooner or later.
func (w *writer) gather(line []byte, f *flight, more bool) (left bool, err error) {
	if len(line) >= alone {
		return false, w.writeAlone(line, f)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.addLocked(line, f)
	switch {
	case len(w.waiting) == 0:
	case more && time.Since(w.since) < together:
		left = true
	case w.busy || w.holders > 0:
		w.work.Signal()
	default:
		w.writeLocked()
	}
	return left, err
}

// kick has all written that has gathered.
func (w *writer) kick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work.Signal()
}

func (w *writer) writeAlone(line []byte, f *flight) error {
	if err := w.hold(f); err != nil {
		return err
	}
	err := w.put(line)
	w.release(err)
	return err
}

// addLocked adds a line to those that have gathered, when there is room.
func (w *writer) addLocked(line []byte, f *flight) error {
	for w.err == nil && len(w.waiting) > gather {
		w.room.Wait()
	}
	if err := w.refusalLocked(f); err != nil {
		return err
	}
	if len(w.waiting) == 0 {
		w.since = time.Now()
	}
	w.waiting = append(w.waiting, line...)
	return nil
}

// hold has all written that has gathered and keeps others from writing, until release. What they have to write gathers.
func (w *writer) hold(f *flight) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holders++
	for w.busy {
		w.room.Wait()
	}
	w.holders--
	if err := w.refusalLocked(f); err != nil {
		w.work.Signal() // it may have waited for this
		return err
	}
	w.busy = true
	if len(w.waiting) == 0 {
		return nil
	}
	err := w.emptyLocked()
	if err != nil {
		w.releaseLocked(err)
		return err
	}
	w.room.Broadcast()
	return nil
}

// put writes p. It is called by whoever is the one to write.
func (w *writer) put(p []byte) error {
	if len(p) >= large && !w.widened {
		w.widened, w.atOnce = true, widen(w.out)
	}
	for len(p) > 0 {
		n := len(p)
		if w.atOnce > 0 {
			n = min(n, w.atOnce)
		}
		if _, err := w.out.Write(p[:n]); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		p = p[n:]
	}
	return nil
}

// release lets others write. err is what became of what was written.
func (w *writer) release(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.releaseLocked(err)
}

func (w *writer) releaseLocked(err error) {
	w.busy = false
	if err != nil && w.err == nil {
		w.err, w.waiting = err, nil
		close(w.broken)
	}
	w.room.Broadcast()
	w.work.Signal()
}

func (w *writer) refusalLocked(f *flight) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed || f != nil && f.cancelled.Load():
		return errCancelled
	}
	return nil
}

// close has all that has gathered written, and nothing more. Then ended is closed.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.work.Signal()
}

// failure gives the error of the first write that failed.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
