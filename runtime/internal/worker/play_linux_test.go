package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine/wazero"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A Host is the parent of a worker that a test plays in this process. It is a [sandbox.Runner] for one module, and does
// calls at the same time as a parent does. Ending the worker ends one link, so that the others go on.
type Host struct {
	// Link is called on a goroutine of its own with each link, as the worker has it. It closes both files.
	Link func(socket, window *os.File)

	worker *worker
	order  *sandbox.Order
	played sync.WaitGroup
}

// Open implements [sandbox.Runner].
func (h *Host) Open(_ context.Context, o *sandbox.Order) (sandbox.Guests, error) {
	h.order = o
	var theirs *os.File
	w, err := h.start()
	if err == nil {
		w.control, theirs, err = protocol.Pair()
	}
	if err != nil {
		return nil, err
	}
	w.links.most, w.links.fast = 2, true
	h.worker = w
	control, err := protocol.Open(theirs, 2)
	if err != nil {
		return nil, err
	}
	h.played.Go(func() { h.playControl(control) })
	return h, nil
}

// start makes the parent's side of a worker without connections.
func (h *Host) start() (*worker, error) {
	ended, err := process.Start(process.Config{Executable: "/proc/self/exe", Name: protocol.ProcessName}) // gets no start request
	if err != nil {
		return nil, err
	}
	<-ended.Done()
	r := &Runner{
		cfg:   Config{Grace: grace, Quick: time.Hour, Logger: slog.New(slog.DiscardHandler)},
		tests: func() (t wazero.Tests) { return t },
	}
	w := &worker{runner: r, guests: &guests{runner: r, order: h.order}, process: ended, began: time.Now()}
	w.links = &links{worker: w, quick: r.cfg.Quick, pace: stall}
	return w, nil
}

// playControl serves each link that is opened.
func (h *Host) playControl(control *protocol.Conn) {
	defer control.Close()
	for {
		kind, _, err := control.Next()
		if err != nil {
			return
		}
		if kind != protocol.KindNewLink {
			continue
		}
		files, err := control.TakeFiles(2)
		if err != nil {
			return
		}
		h.played.Go(func() { h.Link(files[0], files[1]) })
	}
}

// Call implements [sandbox.Guests].
func (h *Host) Call(ctx context.Context, c *sandbox.Call) error {
	_, err := h.worker.call(ctx, c)
	return err
}

// Greet has play start another worker, given its end of the first link, which it closes.
func (h *Host) Greet(ctx context.Context, play func(socket *os.File)) error {
	w := h.worker
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return err
	}
	first, err := w.links.make(conn)
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	defer first.close()
	var orders *os.File
	next := &worker{runner: w.runner, process: w.process, began: time.Now(), links: w.links}
	if next.control, orders, err = protocol.Pair(); err != nil {
		return errors.Join(err, theirs.Close())
	}
	defer next.control.Close()
	module, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer module.Close()
	next.guests = &guests{runner: w.runner, order: h.order, module: module}
	var played sync.WaitGroup
	defer played.Wait()
	played.Go(func() { play(theirs) })
	played.Go(func() { _, _ = io.Copy(io.Discard, orders); orders.Close() })
	err = next.greet(ctx, first)
	next.control.Shutdown()
	first.conn.Shutdown()
	return err
}

// Listen hears what play reports beside calls, until it closes the connection or is ended.
func (h *Host) Listen(play func(reports *os.File)) error {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return err
	}
	w := &worker{runner: h.worker.runner, guests: h.worker.guests, process: h.worker.process, reports: conn}
	var played sync.WaitGroup
	played.Go(func() { play(theirs) })
	w.listen()
	err = conn.Close()
	played.Wait()
	return err
}

func (h *Host) Settle()                      {}
func (h *Host) EndSession(s string)          { h.worker.endSession(s) }
func (h *Host) Started() sandbox.Start       { return sandbox.Start{} }
func (h *Host) Lane() (sandbox.Lane, string) { return sandbox.LaneReset, "" }

// Close implements [sandbox.Guests]. It waits until all links have been played.
func (h *Host) Close() error {
	h.worker.links.close()
	err := h.worker.control.Close()
	h.played.Wait()
	return err
}
