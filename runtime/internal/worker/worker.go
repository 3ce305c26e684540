package worker

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A worker is a worker process, on the parent's side. It is a [link.Process] and a [supervise.Worker].
type worker struct {
	// fixed once the process is started
	runner  *Runner
	process *process.Process
	links   *link.Set
	reports *protocol.Conn // owned by logReports

	// fixed once it is ready
	guests *guests // nil while it is a standby worker
	ready  *link.Ready
	places *places // nil until it is ready
	image  *image  // that it has started from; nil if it has started its guest

	usedBefore time.Duration // processor time that it had used as a standby worker

	started bool // it no longer runs in the background for its start; owned by the goroutine that starts it
	logging sync.WaitGroup

	peak int64 // most memory of its own, if it was looked at before the end; owned by Close

	mu      sync.Mutex // held while control is used
	control *protocol.Conn
}

// Done implements [supervise.Worker].
func (w *worker) Done() <-chan struct{} { return w.process.Done() }

// Kill implements [link.Process].
func (w *worker) Kill() { w.process.Kill() }

// SetBackground implements [link.Process].
func (w *worker) SetBackground(on bool) { w.process.SetBackground(on) }

// Contended implements [link.Process].
func (w *worker) Contended() bool { return w.runner.activity.othersActive(w.guests) }

// Close implements [supervise.Worker]. It returns an error if the worker ended before Close. Calls under way fail by
// themselves.
func (w *worker) Close() (err error) {
	if w.process != nil {
		select {
		case <-w.process.Done():
			end := w.process.End()
			err = fmt.Errorf("the worker process ended or was killed: %v %.400q", end, end.Stderr)
		default:
			w.peak, _ = ownPeak(w.process.ID())
		}
		w.process.Kill()
		<-w.process.Done()
	}
	for _, c := range []*protocol.Conn{w.control, w.reports} {
		if c != nil {
			c.Close()
		}
	}
	w.logging.Wait()
	w.links.Close()
	if w.places != nil {
		w.runner.activity.remove(w)
		own := cmp.Or(w.peak, w.guests.memory.ownOf(w.process.End().Peak))
		w.places.peak(w.guests.memory.taken(own))
		w.places.leave(w.endOf(err))
	}
	return err
}

// endOf returns why a worker that was ready has ended, given what Close found.
func (w *worker) endOf(err error) live.End {
	switch {
	case err != nil:
		w.guests.crashed.Store(true)
		if w.image != nil { // the next worker starts the guest
			w.guests.dropImage(w.image, err)
		}
		return live.Crashed
	case w.guests.closing.Load():
		return live.Closed
	}
	return live.Idle
}

// EndSession tells the worker that a session has ended.
func (w *worker) endSession(session string) {
	if session == "" || len(session) > protocol.MaxSession {
		return // no call had such a name
	}
	_ = w.writeControl(func() error { // a worker that has ended has no sessions
		w.control.Put(protocol.KindEndSession, []byte(session))
		return w.control.Flush()
	})
}

// Cancel implements [link.Process].
func (w *worker) Cancel(id uint32, seq uint64) {
	_ = w.writeControl(func() error { // a worker that has ended has no calls
		w.control.PutMessage(&protocol.Cancel{Link: id, Seq: seq})
		return w.control.Flush()
	})
}

// Pause implements [link.Process].
func (w *worker) Pause(id uint32, seq uint64, on bool) {
	_ = w.writeControl(func() error { // a worker that has ended has no calls
		w.control.PutMessage(&protocol.Pause{Link: id, Seq: seq, On: on})
		return w.control.Flush()
	})
}

// Attach implements [link.Process].
func (w *worker) Attach(id uint32, files ...*os.File) error {
	return w.writeControl(func() error { return w.control.SendFiles(&protocol.NewLink{ID: id}, files...) })
}

// writeControl uses the control connection. It blocks for no time, since an honest worker always reads. It kills a
// worker that does not.
func (w *worker) writeControl(send func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	stuck := time.AfterFunc(w.guests.host.Limits.Timeout+w.runner.cfg.Grace, w.process.Kill)
	defer stuck.Stop()
	return send()
}

// logReports logs the reports of the worker until it ends. It kills a worker that violates the protocol.
func (w *worker) logReports() {
	_ = link.LogReports(w.reports, w.guests.host) // Close returns how the worker ended
	w.process.Kill()
}
