package worker

import (
	"fmt"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A worker is the process, as its parent sees it.
type worker struct {
	// fixed once it is started
	runner  *Runner
	began   time.Time
	process *process.Process
	links   *links

	// fixed once it is ready
	guests   *guests // nil while it is a spare one
	ready    protocol.ReadyMessage
	manifest []byte // as the guest described it; nil when it is packed in

	aside   aside
	settled bool // that it starts is no reason any more; owned by who starts it

	mu      sync.Mutex // guards the field below
	control *protocol.Conn
	reports *protocol.Conn // belongs to listen
	heard   sync.WaitGroup
}

// Done implements [supervise.Worker].
func (w *worker) Done() <-chan struct{} { return w.process.Done() }

// Close implements [supervise.Worker], and says how a worker ended that was not asked to. Calls that are under way find
// out by themselves.
func (w *worker) Close() (err error) {
	if w.process != nil {
		select {
		case <-w.process.Done():
			end := w.process.End()
			err = fmt.Errorf("the worker ended by itself, or was killed for what it did: %v %.400q", end, end.Stderr)
		default:
		}
		w.process.Kill()
		<-w.process.Done()
	}
	for _, c := range []*protocol.Conn{w.control, w.reports} {
		if c != nil {
			c.Close()
		}
	}
	w.heard.Wait()
	w.links.close()
	return err
}
