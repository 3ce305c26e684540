package worker

import (
	"context"
	"os"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// maxReports is how many lines a worker may report in a minute: each instance that is discarded is one, where debugging
// is logged.
const maxReports = 100_000

// listen hears what the worker reports beside its calls, until it is gone.
func (w *worker) listen() {
	c, since, lines := w.guests.order.StartCall(), time.Now(), 0
	for {
		kind, payload, err := w.reports.Next()
		if err != nil || kind != protocol.KindLog {
			w.process.Kill()
			return
		}
		if time.Since(since) > time.Minute {
			c, since, lines = w.guests.order.StartCall(), time.Now(), 0
		}
		if lines++; lines > maxReports {
			w.process.Kill() // whatever it is that runs there
			return
		}
		if err := record(context.Background(), c, payload); err != nil {
			w.process.Kill()
			return
		}
	}
}

// endSession tells the worker, if it is there, that a session has ended.
func (w *worker) endSession(session string) {
	if session == "" || len(session) > protocol.MaxSession {
		return // no call had such a name
	}
	_ = w.tell(func() error { // who is gone has forgotten everything
		w.control.Put(protocol.KindEndSession, []byte(session))
		return w.control.Flush()
	})
}

// cancel tells the worker that nobody waits for a call any more.
func (w *worker) cancel(link uint32, seq uint64) {
	_ = w.tell(func() error { // who is gone has ended it
		w.control.PutMessage(&protocol.Cancel{Link: link, Seq: seq})
		return w.control.Flush()
	})
}

// sendLink hands a link over.
func (w *worker) sendLink(id uint32, files ...*os.File) error {
	return w.tell(func() error { return w.control.SendFiles(&protocol.NewLink{ID: id}, files...) })
}

// tell uses the control connection. An honest worker always reads it, so that sending takes no time: one that does not
// is killed.
func (w *worker) tell(send func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	stuck := time.AfterFunc(w.guests.order.Limits.Timeout+w.runner.cfg.Grace, w.process.Kill)
	defer stuck.Stop()
	return send()
}
