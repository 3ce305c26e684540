package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	goruntime "runtime"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const (
	loadTime  = 30 * time.Second // to load the compiled module of the largest provider there may be
	maxStderr = 8 << 10          // bytes that are kept of what Go says when it dies
)

var errSlow = errors.New("the worker was not ready in time")

// start gets a worker for a module, and waits until it is ready.
func start(ctx context.Context, g *guests) (_ *worker, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, (loadTime+g.order.Limits.Timeout)*slowdown+g.runner.cfg.Grace, errSlow)
	defer cancel()
	snapshot.Probe() // and the tests: for the start request, while the process starts
	g.runner.tests()
	crowded := g.runner.crowd.beside(g)
	w, err := g.runner.spares.take(crowded)
	if err != nil {
		return nil, err
	}
	w.guests = g
	if !crowded {
		w.settle()
	}
	w.links.allow(g.order.Lifecycle)
	first := w.links.take()
	stop := context.AfterFunc(ctx, w.process.Kill)
	err = w.greet(ctx, first)
	stop()
	if err != nil {
		first.close()
		err = w.explain(ctx, err)
		_ = w.Close() // is killed
		return nil, err
	}
	w.settle()
	w.links.give(first)
	w.heard.Go(w.listen)
	return w, nil
}

// spawn starts the process of a worker, with the ends of its connections and nothing to do yet. It may stand aside
// until it has settled.
func spawn(r *Runner, aside bool) (_ *worker, err error) {
	w := &worker{runner: r, began: time.Now(), settled: !aside}
	w.links = &links{worker: w, quick: r.cfg.Quick, pace: stall, fast: stall < r.cfg.Quick/4}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	var theirs [3]*os.File // control, reports, and the socket of the first link
	var ours [len(theirs)]*protocol.Conn
	for i := range theirs {
		if ours[i], theirs[i], err = protocol.Pair(); err != nil {
			return nil, errors.Join(err, closeAll(ours[:i]))
		}
		defer theirs[i].Close()
	}
	w.control, w.reports = ours[0], ours[1]
	first, err := w.links.make(ours[2])
	if err != nil {
		return nil, err
	}
	w.links.give(first)
	w.process, err = process.Start(process.Config{
		Executable: r.cfg.Executable, Name: protocol.ProcessName, Namespaces: true, MaxStderr: maxStderr, Logger: r.cfg.Logger,
		Files: append(theirs[:], first.window.File()),
	})
	if err != nil {
		return nil, err
	}
	if aside {
		w.aside.step(w.process)
	}
	return w, nil
}

func closeAll(conns []*protocol.Conn) error {
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// greet sends the start request and hears what the worker says while it starts, which counts as a call. From when the
// worker is sealed, the guest runs, and has as long as for one.
func (w *worker) greet(ctx context.Context, first *link) error {
	text, err := json.Marshal(w.startRequest())
	if err != nil {
		return err
	}
	if err := w.control.SendFiles(protocol.StartMessage(text), w.guests.module); err != nil {
		return err
	}
	t := &trip{call: w.guests.order.StartCall(), link: first}
	defer first.rest()
	for sealed := false; ; {
		kind, payload, err := first.conn.Next()
		if first.check() || first.overdue.Load() {
			return t.call.DeadlineError()
		}
		if err != nil {
			return err
		}
		switch kind {
		case protocol.KindSealed:
			if sealed {
				return first.conn.Unexpected(kind)
			}
			sealed = true
			first.watch(time.Now().Add(w.guests.order.Limits.Timeout))
		case protocol.KindReady:
			return w.take(payload)
		case protocol.KindFailed:
			return failure(payload)
		case protocol.KindFrame:
			w.manifest = append([]byte{}, payload...)
		default:
			if err := t.hear(ctx, kind, payload); err != nil {
				return err
			}
		}
	}
}

// startRequest says what the worker is to do.
func (w *worker) startRequest() *protocol.StartRequest {
	g, o := w.guests, w.guests.order
	reset, _ := snapshot.Probe() // why no quicker one is for those who start us to say
	return &protocol.StartRequest{
		Limits: o.Limits, Lifecycle: o.Lifecycle, Config: o.Values, Services: o.Services, Determinism: o.Determinism,
		Compiled: []byte(g.compiled), Processors: goruntime.GOMAXPROCS(0), Threads: w.threads(), Reset: reset,
		Tests: g.runner.tests(), LogLevel: int(lowest(o.Logger)),
	}
}

// threads is how many the worker may have: one for each link, as many to wait with, and Go's own. Where it has no user
// namespace of its own they cannot be told from others.
func (w *worker) threads() uint64 {
	for _, n := range w.process.Namespaces() {
		if n.Kind == "user" && n.Err == nil {
			return 2*protocol.MaxLinks + 64
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
	if err := json.Unmarshal(text, &w.ready); err != nil {
		return protocol.Errorf("ready message of the worker: %v", err)
	}
	w.ready.Truncate()
	switch w.ready.Lane {
	case sandbox.LaneReset, sandbox.LaneReplace, sandbox.LaneBoot:
		return nil
	}
	return protocol.Errorf("no lane is called %.32q", w.ready.Lane)
}

func failure(payload []byte) error {
	var m protocol.Done
	if err := m.Decode(payload); err != nil {
		return err
	}
	if err := quote(&m); err != nil {
		return err
	}
	return protocol.Errorf("the worker failed with no error")
}

// explain says why a worker did not get ready, given what its connection said.
func (w *worker) explain(ctx context.Context, err error) error {
	var said *abi.Error
	if errors.As(err, &said) {
		if said.Code == abi.CodeInternal {
			w.runner.cfg.Logger.Warn("worker not started", "err", said, "cause", said.Cause)
		}
		return err
	}
	w.process.Kill()
	end := w.process.End()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	w.runner.cfg.Logger.Warn("worker not started", "err", err, "end", end.String(), "stderr", end.Stderr)
	return fmt.Errorf("%w (%v)", err, end)
}
