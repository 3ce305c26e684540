package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/fair"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/link"
	"github.com/wasmres/wasmres/runtime/internal/worker/live"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/supervise"
	"github.com/wasmres/wasmres/runtime/trace"
)

// guests are the guests of one module, in its present worker.
type guests struct {
	// fixed at creation
	runner *Runner
	host   *guest.Host
	life   context.Context // ends with Close
	end    context.CancelFunc
	groups []*live.Group // that every worker must enter, in this order, before it may start
	owner  string        // in the group of the runner; empty for that before it
	meter  *fair.Meter   // of its workers; nil if the calls wait for no processors

	images   ImageStore // nil for none
	noImages string     // why there is none; empty if no images are saved

	// owned by the goroutine that starts a worker
	compiled   string   // directory of the compiled module; empty when it is not known to be there
	module     *os.File // the module without code, if it cannot be loaded again; nil before the first start
	recompiled bool     // the module was compiled again since a worker was ready
	described  bool     // a worker was ready
	places     *places  // of the worker that is about to start

	// fixed once they are open
	workers *supervise.Supervisor[*worker]

	info   atomic.Pointer[guest.Info] // nil before a worker was ready
	quota  link.Quota
	called atomic.Int64           // when, as time since the runner was made; 0 for never
	unpaid atomic.Int64           // processor time of starts, in nanoseconds, which the next call pays
	usedIn atomic.Pointer[string] // directory of the compiled module of the last worker; nil before one was ready
	usedAt atomic.Int64           // when NativeCode.Used was called, as called
	memory memory
	closed sync.Once
	saving sync.WaitGroup // of images

	isSaving atomic.Bool // an image is saved or waits for that

	opened  atomic.Bool // workers is set
	crashed atomic.Bool // the last worker ended by itself
	closing atomic.Bool
	isNext  atomic.Bool // a start has its places in the groups, and waits for that among the starts
}

// open starts the first worker. If the compiled module is unusable, as after damage on the disk, it is compiled again.
func (g *guests) open(ctx context.Context) error {
	err := g.start(ctx)
	if isCompiledModuleError(err) {
		err = g.start(ctx)
	}
	return err
}

func (g *guests) start(ctx context.Context) (err error) {
	cfg := supervise.Config[*worker]{Prepare: g.prepare, Start: g.startWorker, Queued: g.refusal, Unused: g.released, Logger: g.runner.cfg.Logger}
	if g.runner.cfg.Idle > 0 || len(g.groups) > 0 {
		cfg.Idle = g.idle
	}
	open := supervise.Open[*worker]
	if g.isLazy() {
		if err := g.compile(ctx); err != nil {
			return err
		}
		open = supervise.OpenStopped[*worker]
	}
	if g.workers, err = open(ctx, cfg); err != nil {
		return err
	}
	g.opened.Store(true)
	g.released()
	return nil
}

// isLazy reports whether the first call starts the first worker.
func (g *guests) isLazy() bool { return g.host.Lazy && g.host.Packed() }

// idle returns how long a worker without calls keeps running.
func (g *guests) idle() time.Duration {
	if g.runner.cfg.Idle == 0 {
		return math.MaxInt64 // only groups stop it
	}
	return max(g.runner.cfg.Idle, g.lasting())
}

// lasting returns how long guest state that outlives a call may rely on its worker: for as long as the worker keeps the
// instance of a session that is not called.
func (g *guests) lasting() time.Duration {
	if g.host.Lifecycle() == abi.LifecycleFresh {
		return 0
	}
	return g.host.Limits.Idle
}

// prepare has the module compiled, if it is not, and waits for the turn of a start.
func (g *guests) prepare(ctx context.Context) (err error) {
	if err := g.compile(ctx); err != nil {
		return err
	}
	g.places, err = g.enter(ctx)
	return err
}

// compile has the module compiled, if it is not. While the guests are opened, ctx bounds that. Later only Close ends it: it
// may take longer than any call waits. Before the first start it lets go of the module: many modules may wait for the compiler or
// for a start at the same time, and each takes some megabytes.
func (g *guests) compile(ctx context.Context) error {
	if g.compiled != "" {
		return nil
	}
	if g.opened.Load() {
		ctx = g.life
	}
	whole, err := g.host.Module.Load()
	if err != nil {
		return err
	}
	if !g.opened.Load() {
		g.host.ReleaseModule()
	}
	g.compiled, err = g.runner.code.Compile(g.host.Share.Context(ctx), whole.Binary(), g.host.Module.Loader())
	return err
}

// startWorker starts a worker in the places that prepare has left.
func (g *guests) startWorker(ctx context.Context) (_ *worker, err error) {
	began, places := time.Now(), g.places
	g.places = nil
	defer places.starts()
	w, err := g.startOne(ctx)
	if err != nil {
		places.leave(live.Crashed)
		return nil, err
	}
	cold := (g.described || g.isLazy()) && !g.crashed.Swap(false)
	g.described = true
	w.places = places
	g.runner.activity.add(w)
	places.started(time.Since(began), cold)
	return w, nil
}

func (g *guests) startOne(ctx context.Context) (_ *worker, err error) {
	defer g.runner.standby.fill(standbyDelay)
	code, copied := g.openCode()
	if code != nil {
		defer code.Close()
	}
	w, image, err := g.startFrom(ctx, code)
	defer image.close()
	if w != nil {
		if used, err := w.process.CPU(); err == nil {
			g.charge(used - w.usedBefore)
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.invalidateCompiled(err))
	}
	dir := g.compiled
	g.usedIn.Store(&dir)
	g.usedAt.Store(int64(time.Since(g.runner.made)))
	g.use()
	if err := g.setReady(w.ready); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	g.recompiled = false
	copied = cmp.Or(copied, w.ready.Copied)
	unsaved := g.noteImage(image, w)
	w.ready.State, w.ready.Manifest = nil, nil // the worker may run for long
	g.runner.current.Store(&Isolation{Layers: w.ready.Layers, Namespaces: w.process.Namespaces(), Copied: copied, Unsaved: unsaved})
	return w, nil
}

// useInterval is how often the native code of a worker that is called is noted as used. A cache spares what was used for longer.
const useInterval = 5 * time.Minute

// use notes that the native code of the last worker is used.
func (g *guests) use() {
	if dir := g.usedIn.Load(); dir != nil {
		g.runner.code.Used(g.life, *dir)
	}
}

// startFrom starts a worker with the saved image, if there is one. If that worker does not start, the image may be the reason: it
// is removed, and another worker starts the guest. The caller closes the image, also after an error.
func (g *guests) startFrom(ctx context.Context, code *os.File) (*worker, *image, error) {
	image := g.openImage()
	module, err := g.openModule(image.kind)
	if err != nil {
		return nil, image, err
	}
	w, err := g.startWith(ctx, module, code, image)
	if err == nil || image.kind != protocol.SavedImage || ctx.Err() != nil {
		return w, image, err
	}
	g.dropImage(image, err)
	image.close()
	image = newImage(image.key, "the worker with the saved image has not started")
	if module, err = g.openModule(image.kind); err != nil {
		return nil, image, err
	}
	w, err = g.startWith(ctx, module, code, image)
	return w, image, err
}

func (g *guests) startWith(ctx context.Context, module, code *os.File, image *image) (*worker, error) {
	defer g.closeModule(module)
	return start(ctx, g, files{module: module, code: code, image: image})
}

// charge charges the processor time of a start to the owner of the module.
func (g *guests) charge(used time.Duration) {
	g.host.Share.Charge(used)
	g.unpaid.Add(int64(used))
}

// invalidateCompiled makes the next worker look for the compiled module again. If that module may have caused err, it
// is compiled again first, but not twice in a row.
func (g *guests) invalidateCompiled(err error) error {
	dir := g.compiled
	g.compiled = ""
	if !isCompiledModuleError(err) || g.recompiled {
		return nil
	}
	g.recompiled = true
	g.runner.cfg.Logger.Warn("compiled module invalid, recompiling", "dir", dir, "err", err)
	whole, err := g.host.Module.Load()
	if err != nil {
		return err
	}
	return g.runner.code.Invalidate(whole.Binary())
}

// openModule returns a file in memory with the module without its code, for a worker with an image. One that starts from a saved image
// gets no data of the memory either, if the module can be loaded again: that is most of the module, and all of it is in the image.
func (g *guests) openModule(kind protocol.ImageFile) (*os.File, error) {
	if g.module != nil {
		return g.module, nil
	}
	form := g.host.Module.Stripped
	if kind == protocol.SavedImage && g.host.Module.IsLight() {
		form = g.host.Module.Head
	}
	text, err := form()
	if err != nil {
		return nil, err
	}
	f, err := protocol.MemfdOf(text)
	if err != nil {
		return nil, fmt.Errorf("worker: make the file of the module: %w", err)
	}
	return f, nil
}

// closeModule closes the file of openModule, which a worker has open by now, or keeps it if the module cannot be loaded
// again.
func (g *guests) closeModule(f *os.File) {
	g.module = f
	if g.host.Module.IsLight() {
		_ = f.Close() // it is in memory
		g.module = nil
	}
}

// openCode opens the file of the native code for the worker. Without one, copied says why.
func (g *guests) openCode() (code *os.File, copied string) {
	if g.runner.code.Code == nil {
		return nil, ""
	}
	code, err := g.runner.code.Code(g.life, g.compiled)
	if err != nil {
		g.runner.cfg.Logger.Warn("native code is copied into the worker, which takes more memory", "err", err)
		return nil, err.Error()
	}
	return code, ""
}

// isCompiledModuleError reports whether the compiled module may be the reason why a worker did not start: the worker
// refused it, or ended without an error.
func isCompiledModuleError(err error) bool {
	return abi.CodeOf(err) == abi.CodeModule || errors.Is(err, io.EOF) || errors.Is(err, protocol.ErrGone)
}

// setReady stores the first worker's report of its guest. It ignores reports of later workers.
func (g *guests) setReady(r *link.Ready) error {
	if g.described {
		return nil
	}
	info := r.Info
	info.State = nil // it belongs to one image
	g.info.Store(&info)
	if g.isLazy() || g.host.Packed() {
		return nil
	}
	manifest, err := abi.DecodeManifest(r.Manifest)
	if err != nil {
		return err
	}
	return g.host.SetManifest(manifest)
}

// Call implements [guest.Guests]. A call that loses its worker is retried once, unless it may have caused the loss, the
// guest has answered something, or it has asked for something that may change something. A call starts a worker if the last
// one was stopped.
func (g *guests) Call(ctx *deadline.Context, c *guest.Call) error {
	now := int64(time.Since(g.runner.made))
	g.called.Store(now)
	if at := g.usedAt.Load(); now-at >= int64(useInterval) && g.usedAt.CompareAndSwap(at, now) {
		g.use()
	}
	began := time.Now()
	w, err := g.acquire(ctx, c.Span())
	c.Idled(time.Since(began))
	if unpaid := g.unpaid.Load(); unpaid > 0 { // rarely
		c.Started(time.Duration(g.unpaid.Swap(0)))
	}
	if err != nil {
		return err
	}
	defer g.workers.Release()
	if err := c.EnterTurn(g.meter, true); err != nil {
		return err
	}
	retry, err := w.call(ctx, c)
	if !retry {
		return err
	}
	c.BeginWait()
	began = time.Now()
	w, err = g.workers.AcquireOther(ctx, w)
	c.Idled(time.Since(began))
	c.EndWait()
	if err = cmp.Or(err, c.Err()); err != nil {
		return err
	}
	c.RewindTape()
	_, err = w.call(ctx, c)
	return err
}

// acquire gives the worker for a call. A call that waits for a start has a span for that.
func (g *guests) acquire(ctx *deadline.Context, span *trace.Span) (*worker, error) {
	if span != nil {
		if _, isReady := g.workers.Current(); isReady {
			span = nil
		}
	}
	span = span.Child("start")
	w, err := g.workers.Acquire(ctx)
	span.End(abi.CodeOf(err).String())
	return w, err
}

// Wake implements [guest.Waker].
func (g *guests) Wake(ctx context.Context) error {
	if _, err := g.workers.Acquire(ctx); err != nil {
		return err
	}
	g.workers.Release()
	return nil
}

// ResetUsed implements [guest.Guests]. A worker resets its instances by itself.
func (g *guests) ResetUsed() {}

// EndSession implements [guest.Guests]. Without a worker there are no sessions.
func (g *guests) EndSession(session string) {
	if w, ok := g.workers.Current(); ok {
		w.endSession(session)
	}
}

// Info implements [guest.Guests]. It is zero before a worker was ready.
func (g *guests) Info() guest.Info {
	if info := g.info.Load(); info != nil {
		return *info
	}
	return guest.Info{}
}

// Close implements [guest.Guests].
func (g *guests) Close() (err error) {
	g.closed.Do(func() {
		g.closing.Store(true)
		g.end()
		err = g.close()
		g.runner.standby.remove()
	})
	return err
}

func (g *guests) close() error {
	if g.workers != nil {
		_ = g.workers.Close() // the last worker's error does not matter
	}
	g.saving.Wait()
	if g.module == nil {
		return nil
	}
	return g.module.Close()
}
