package stdio

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// maxBatch is how many bytes may wait to be written. Beyond it, every writer of a line waits, so that a client that
	// does not read slows requests down instead of filling memory.
	maxBatch = 256 << 10
	// largeLine is the size from which on a line is written by itself, in bytes. A smaller one is copied into the batch.
	largeLine = 64 << 10
	// batchDelay is how long successive lines are collected, to be written at once.
	batchDelay = 100 * time.Microsecond
	// largeWrite is the size of a write for which it pays to grow a pipe, in bytes.
	largeWrite = 512 << 10
)

// A writer writes whole lines. Lines that come during a write are batched: the next write has all of them.
type writer struct {
	// fixed at creation
	out    io.Writer
	broken chan struct{} // closed when a write has failed
	ended  chan struct{} // closed after the last write

	mu      sync.Mutex // guards the fields below
	work    *sync.Cond // run may have something to do
	room    *sync.Cond // goroutines that write lines may have
	busy    bool       // a goroutine writes: the one that has the lock
	lockers int        // goroutines that wait for the lock, which they get before run
	closed  bool
	pending []byte    // the batch
	since   time.Time // when its first line came
	spare   []byte    // the buffer of the next batch
	err     error

	// owned by the goroutine that has the lock
	grown    bool // growPipe was called
	maxWrite int  // bytes of one write; 0 for any number
}

// newWriter makes a writer. The caller calls close.
func newWriter(out io.Writer) *writer {
	w := &writer{out: out, broken: make(chan struct{}), ended: make(chan struct{})}
	w.work, w.room = sync.NewCond(&w.mu), sync.NewCond(&w.mu)
	go w.run()
	return w
}

// run writes batches until close.
func (w *writer) run() {
	defer close(w.ended)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for w.busy || w.lockers > 0 || len(w.pending) == 0 {
			if w.closed && !w.busy && len(w.pending) == 0 {
				return
			}
			w.work.Wait()
		}
		w.writeBatchLocked()
	}
}

// writeBatchLocked writes the batch. No goroutine has the lock.
func (w *writer) writeBatchLocked() {
	w.busy = true
	w.unlockLocked(w.writePendingLocked())
}

// writePendingLocked writes the batch, and unlocks mu meanwhile. The caller has the lock.
func (w *writer) writePendingLocked() error {
	lines := w.pending
	w.pending = w.spare[:0]
	w.mu.Unlock()
	err := w.writeRaw(lines)
	w.mu.Lock()
	w.spare = lines[:0]
	return err
}

// write writes a line with its line end, unless p was cancelled before; a nil p cannot be. It returns when a large line
// is written; a smaller one may still wait, and the error may be that of an earlier line.
func (w *writer) write(line []byte, p *pendingRequest) error {
	if len(line) >= largeLine {
		return w.writeLarge(line, p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.addLocked(line, p); err != nil {
		return err
	}
	w.work.Signal()
	return nil
}

// batch is write, but on the calling goroutine if no other writes. more means that another line follows at once: then
// the line may stay in the batch, which left reports, and the caller must have flush called later.
func (w *writer) batch(line []byte, p *pendingRequest, more bool) (left bool, err error) {
	if len(line) >= largeLine {
		return false, w.writeLarge(line, p)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.addLocked(line, p)
	switch {
	case len(w.pending) == 0:
	case more && time.Since(w.since) < batchDelay:
		left = true
	case w.busy || w.lockers > 0:
		w.work.Signal()
	default:
		w.writeBatchLocked()
	}
	return left, err
}

// flush has run write the batch.
func (w *writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work.Signal()
}

func (w *writer) writeLarge(line []byte, p *pendingRequest) error {
	if err := w.lock(p); err != nil {
		return err
	}
	err := w.writeRaw(line)
	w.unlock(err)
	return err
}

// addLocked adds a line to the batch, when there is room.
func (w *writer) addLocked(line []byte, p *pendingRequest) error {
	for w.err == nil && len(w.pending) > maxBatch {
		w.room.Wait()
	}
	if err := w.checkLocked(p); err != nil {
		return err
	}
	if len(w.pending) == 0 {
		w.since = time.Now()
	}
	w.pending = append(w.pending, line...)
	return nil
}

// lock writes the batch, and blocks writes of other goroutines until unlock. Their lines are batched meanwhile.
func (w *writer) lock(p *pendingRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lockers++
	for w.busy {
		w.room.Wait()
	}
	w.lockers--
	if err := w.checkLocked(p); err != nil {
		w.work.Signal() // run may have waited for this goroutine
		return err
	}
	w.busy = true
	if len(w.pending) == 0 {
		return nil
	}
	err := w.writePendingLocked()
	if err != nil {
		w.unlockLocked(err)
		return err
	}
	w.room.Broadcast()
	return nil
}

// writeRaw writes bytes of a line. The caller has the lock.
func (w *writer) writeRaw(p []byte) error {
	if len(p) >= largeWrite && !w.grown {
		w.grown, w.maxWrite = true, growPipe(w.out)
	}
	for len(p) > 0 {
		n := len(p)
		if w.maxWrite > 0 {
			n = min(n, w.maxWrite)
		}
		if _, err := w.out.Write(p[:n]); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
		p = p[n:]
	}
	return nil
}

// unlock ends the effect of lock. err is that of the writes; nil for none.
func (w *writer) unlock(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlockLocked(err)
}

func (w *writer) unlockLocked(err error) {
	w.busy = false
	if err != nil && w.err == nil {
		w.err, w.pending = err, nil
		close(w.broken)
	}
	w.room.Broadcast()
	w.work.Signal()
}

// checkLocked returns the reason why a line of p must not be written.
func (w *writer) checkLocked(p *pendingRequest) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed || p != nil && p.cancelled.Load():
		return errCancelled
	}
	return nil
}

// close has run write the batch and end. Later lines are refused.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.work.Signal()
}

// failure returns the error of the first write that failed.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
