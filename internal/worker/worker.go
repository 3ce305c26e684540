package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/process"
	"github.com/wasmres/wasmres/internal/worker/wire"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/snapshot"
)

// A worker is the process, as its parent sees it.
type worker struct {
	// fixed once it is started
	guests   *guests
	began    time.Time
	process  *process.Process
	news     news
	manifest []byte // as the guest described it; nil when it is packed in
	links    *links

	mu      sync.Mutex // guards the field below
	control *wire.Conn
	reports *wire.Conn // belongs to listen
	heard   sync.WaitGroup
}

const (
	loadTime  = 30 * time.Second // to load the compiled module of the largest provider there may be
	maxStderr = 8 << 10          // bytes that are kept of what Go says when it dies

	maxReports = 100_000 // lines in a minute: each instance that is discarded is one, where debugging is logged
)

var errSlow = errors.New("the worker was not ready in time")

// start starts a worker and waits until it is ready.
func start(ctx context.Context, g *guests) (_ *worker, err error) {
	limits := g.order.Limits
	ctx, cancel := context.WithTimeoutCause(ctx, (loadTime+limits.Timeout)*slowdown+g.runner.cfg.Grace, errSlow)
	defer cancel()
	w := &worker{guests: g, began: time.Now()}
	w.links = &links{worker: w}
	first, err := w.spawn()
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	stop := context.AfterFunc(ctx, w.process.Kill)
	err = w.greet(ctx, first)
	stop()
	if err != nil {
		first.close()
		err = w.explain(ctx, err)
		_ = w.Close() // is killed
		return nil, err
	}
	w.links.give(first)
	w.heard.Go(w.listen)
	return w, nil
}

// spawn starts the process with the ends of its connections.
func (w *worker) spawn() (_ *link, err error) {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	pair := func() (ours *wire.Conn) {
		if err != nil {
			return nil
		}
		var other *os.File
		if ours, other, err = wire.Pair(); err == nil {
			theirs = append(theirs, other)
		}
		return ours
	}
	w.control, w.reports = pair(), pair()
	socket := pair()
	if err != nil {
		return nil, err
	}
	first, err := w.links.make(socket)
	if err != nil {
		return nil, err
	}
	w.process, err = process.Start(process.Config{
		Executable: w.guests.runner.cfg.Executable, Name: name, Namespaces: true, MaxStderr: maxStderr, Logger: w.guests.runner.cfg.Logger,
		Files: []*os.File{theirs[0], theirs[1], w.guests.module, theirs[2], first.window.File()},
	})
	if err != nil {
		first.close()
		return nil, err
	}
	return first, nil
}

// greet hands the orders over and hears what the worker says while it starts, which counts as a call. From when the
// worker is sealed, the guest runs, and has as long as for one.
func (w *worker) greet(ctx context.Context, first *link) error {
	text, err := json.Marshal(w.order())
	if err != nil {
		return err
	}
	w.control.Put(wire.KindStart, text)
	if err := w.control.Flush(); err != nil {
		return err
	}
	c := w.guests.order.Starting()
	defer first.rest()
	for {
		kind, payload, err := first.conn.Next()
		if first.overdue.Load() {
			return c.Overdue()
		}
		if err != nil {
			return err
		}
		switch kind {
		case wire.KindSealed:
			first.watch(time.Now().Add(w.guests.order.Limits.Timeout))
		case wire.KindReady:
			return w.take(payload)
		case wire.KindFailed:
			return failure(payload)
		case wire.KindFrame:
			w.manifest = append([]byte{}, payload...)
		default:
			if err := first.hear(ctx, c, kind, payload); err != nil {
				return err
			}
		}
	}
}

// order makes the orders of the worker.
func (w *worker) order() *orders {
	g, o := w.guests, w.guests.order
	reset, _ := snapshot.Probe() // why no quicker one is for those who start us to say
	return &orders{
		Limits: o.Limits, Lifecycle: o.Lifecycle, Config: o.Config, Services: o.Services,
		Compiled: []byte(g.compiled), Threads: w.threads(), Reset: reset, Tests: g.runner.tests(), LogLevel: int(lowest(o.Logger)),
	}
}

// threads is how many the worker may have: one for each link, as many to wait with, and Go's own. Where it has no user
// namespace of its own they cannot be told from others.
func (w *worker) threads() uint64 {
	for _, n := range w.process.Namespaces() {
		if n.Kind == "user" && n.Err == nil {
			return 2*maxLinks + 64
		}
	}
	return 0
}

// lowest is the least level that is logged.
func lowest(logger *slog.Logger) slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if logger.Enabled(context.Background(), level) {
			return level
		}
	}
	return slog.LevelError
}

// take takes what the worker says of itself when it is ready.
func (w *worker) take(text []byte) error {
	if err := json.Unmarshal(text, &w.news); err != nil {
		return wire.Protocolf("the worker's news: %v", err)
	}
	w.news.clip()
	switch w.news.Lane {
	case runtime.LaneReset, runtime.LaneReplace, runtime.LaneBoot:
		return nil
	}
	return wire.Protocolf("no lane is called %.32q", w.news.Lane)
}

func failure(payload []byte) error {
	var m wire.Done
	if err := m.Decode(payload); err != nil {
		return err
	}
	if err := quote(&m); err != nil {
		return err
	}
	return wire.Protocolf("the worker failed with no error")
}

// explain says why a worker did not get ready, given what its connection said.
func (w *worker) explain(ctx context.Context, err error) error {
	var said *abi.Error
	if errors.As(err, &said) {
		return err
	}
	w.process.Kill()
	end := w.process.End()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	w.guests.runner.cfg.Logger.Warn("worker not started", "err", err, "end", end.String(), "stderr", end.Stderr)
	return fmt.Errorf("%w (%v)", err, end)
}

// listen hears what the worker reports beside its calls, until it is gone.
func (w *worker) listen() {
	c, since, lines := w.guests.order.Starting(), time.Now(), 0
	for {
		kind, payload, err := w.reports.Next()
		if err != nil || kind != wire.KindLog {
			w.process.Kill()
			return
		}
		if time.Since(since) > time.Minute {
			c, since, lines = w.guests.order.Starting(), time.Now(), 0
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
	if session == "" || len(session) > wire.MaxSession {
		return // no call had such a name
	}
	_ = w.tell(func() error { // who is gone has forgotten everything
		w.control.Put(wire.KindEndSession, []byte(session))
		return w.control.Flush()
	})
}

// cancel tells the worker that nobody waits for a call any more.
func (w *worker) cancel(link uint32, seq uint64) {
	_ = w.tell(func() error { // who is gone has ended it
		w.control.PutMessage(&wire.Cancel{Link: link, Seq: seq})
		return w.control.Flush()
	})
}

// sendLink hands a link over.
func (w *worker) sendLink(id uint32, files ...*os.File) error {
	return w.tell(func() error { return w.control.SendFiles(&wire.NewLink{ID: id}, files...) })
}

// tell uses the control connection. An honest worker always reads it, so that sending takes no time: one that does not
// is killed.
func (w *worker) tell(send func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	stuck := time.AfterFunc(w.guests.order.Limits.Timeout+w.guests.runner.cfg.Grace, w.process.Kill)
	defer stuck.Stop()
	return send()
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
	for _, c := range []*wire.Conn{w.control, w.reports} {
		if c != nil {
			c.Close()
		}
	}
	w.heard.Wait()
	w.links.close()
	return err
}
