package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const (
	loadTime  = 30 * time.Second // to load the compiled module of the largest permitted provider
	maxStderr = 8 << 10          // bytes stored of what Go writes when the process crashes
)

var errStartTimeout = errors.New("the worker was not ready in time")

// files are what a worker gets with the start request.
type files struct {
	module *os.File
	code   *os.File // nil for a worker that copies it
	image  *image
}

// start assigns a worker to a module, whose files it sends, and waits until the worker is ready.
func start(ctx context.Context, g *guests, send files) (_ *worker, err error) {
	limit := (loadTime+g.host.Limits.Timeout)*slowdown + g.runner.cfg.Grace
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errStartTimeout)
	defer cancel()
	snapshot.Probe() // and the tests: for the start request, while the process starts
	g.runner.tests()
	contended := g.runner.activity.othersActive(g)
	w, err := g.runner.standby.acquire(contended)
	if err != nil {
		return nil, err
	}
	w.guests = g
	w.usedBefore, _ = w.process.CPU()
	stop := context.AfterFunc(ctx, w.process.Kill)
	err = w.handshake(ctx, send, contended)
	stop()
	if err != nil {
		err = w.startError(ctx, err)
		_ = w.Close() // the first error is more precise
		g.charge(w.process.End().CPU - w.usedBefore)
		return nil, err
	}
	w.endStarting()
	w.logging.Go(w.logReports)
	return w, nil
}

// endStarting ends the time for which the worker runs in the background because it starts.
func (w *worker) endStarting() {
	if !w.started {
		w.started = true
		w.links.EndBackground()
	}
}

// spawn starts the process of a worker and its connections, without a start request. With background, it runs in the
// background until endStarting.
func spawn(r *Runner, background bool) (_ *worker, err error) {
	w := &worker{runner: r, started: !background}
	w.links = link.New(link.Config{Process: w, Grace: r.cfg.Grace, PipelineUnder: r.cfg.PipelineUnder, Idle: r.cfg.LinkIdle, Logger: r.cfg.Logger})
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	var theirs [3]*os.File // control, reports, and the socket of the first link
	var ours [len(theirs)]*protocol.Conn
	for i := range theirs {
		pair := protocol.Pair
		if i == 1 { // of reports, which come rarely, and hurry nothing
			pair = protocol.PairPolled
		}
		if ours[i], theirs[i], err = pair(); err != nil {
			return nil, errors.Join(err, closeAll(ours[:i]))
		}
		defer theirs[i].Close()
	}
	w.control, w.reports = ours[0], ours[1]
	window, err := w.links.Add(ours[2])
	if err != nil {
		return nil, err
	}
	w.process, err = process.Start(process.Config{
		Executable: r.cfg.Executable, Name: protocol.ProcessName, Namespaces: true, MaxStderr: maxStderr, Logger: r.cfg.Logger,
		Files: append(theirs[:], window),
	})
	if err != nil {
		return nil, err
	}
	if background {
		w.links.BeginBackground()
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

// handshake sends the start request with its files, and waits until the guests have started. Unless others are called
// meanwhile, the worker starts with all processors; it begins before they are given to it, which takes a while.
func (w *worker) handshake(ctx context.Context, send files, contended bool) error {
	request, all := w.guests.startRequest(), []*os.File{send.module}
	request.Threads = w.threads()
	if send.code != nil {
		request.Mapped = true
		all = append(all, send.code)
	}
	if request.Image = send.image.kind; request.Image != protocol.NoImage {
		all = append(all, send.image.file)
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if err := w.control.SendFiles(protocol.StartMessage(text), all...); err != nil {
		return err
	}
	if !contended {
		w.endStarting()
	}
	w.ready, err = w.links.Start(ctx, link.Module{Host: w.guests.host, Quota: &w.guests.quota})
	return err
}

// startRequest returns the task of a worker, without what differs from one worker to the next.
func (g *guests) startRequest() *protocol.StartRequest {
	h := g.host
	reset, _ := snapshot.Probe() // doctor reports why there is no faster method
	return &protocol.StartRequest{
		Limits: h.Limits, Lifecycle: h.MaxLifecycle, Config: h.Values, Clock: h.Clock, Records: h.Records, Expose: h.ExposeErrors,
		Services: slices.Sorted(maps.Keys(h.Services)),
		Compiled: []byte(g.compiled), Processors: goruntime.GOMAXPROCS(0), Reset: reset,
		Engine: g.runner.code.Engine, Tests: g.runner.tests(), LogLevel: int(logLevel(h.Logger)),
	}
}

// threads returns how many threads the worker may have: one for each link, as many that wait, and Go's own. It is 0,
// for any number, without a user namespace: then the kernel counts threads of other processes as well.
func (w *worker) threads() uint64 {
	for _, n := range w.process.Namespaces() {
		if n.Kind == "user" && n.Err == nil {
			return 2*protocol.MaxLinks + 64
		}
	}
	return 0
}

// logLevel returns the lowest level that a logger logs.
func logLevel(logger *slog.Logger) slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if logger.Enabled(context.Background(), level) {
			return level
		}
	}
	return slog.LevelError
}

// startError returns the error of a worker that did not start, given that of its connections. It kills the worker, and
// logs details for the operator.
func (w *worker) startError(ctx context.Context, err error) error {
	var sent *abi.Error
	if errors.As(err, &sent) {
		if sent.Code == abi.CodeInternal {
			w.runner.cfg.Logger.Warn("worker not started", "err", sent, "cause", sent.Cause)
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
