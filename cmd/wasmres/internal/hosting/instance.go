package hosting

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/systemd"
	"github.com/wasmres/wasmres/internal/takeover"
	"github.com/wasmres/wasmres/runtime"
)

// aliveTime is how long the server may take to answer itself, before it says nothing to the watchdog of the service manager.
const aliveTime = 10 * time.Second

// An instance is a node that serves on listeners. A process has one, and for a while two after a takeover of it has failed.
type instance struct {
	// fixed at creation
	node    *node.Node
	sockets *takeover.Sockets
	logger  *slog.Logger
	ready   chan struct{} // closed when operators can connect

	drain   runtime.Drain
	noCA    context.CancelFunc // stops to accept connections of a certificate authority
	ctx     context.Context
	stop    context.CancelFunc // ends what serves
	clients sync.WaitGroup     // what serves clients
	others  sync.WaitGroup
	rest    sync.WaitGroup // waits for the process before this one
	stopped chan struct{}  // closed when all has ended

	mu   sync.Mutex
	left bool // another process or instance serves: the end of a listener is none of the server
	errs []error
}

// start serves on listeners until stop or leave is called. The caller calls wait.
func start(n *node.Node, sockets *takeover.Sockets, listeners []listener, said *statusLine, logger *slog.Logger) *instance {
	in := &instance{node: n, sockets: sockets, logger: logger, ready: make(chan struct{}), stopped: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	in.ctx, in.stop = ctx, stop
	hangups := make(chan os.Signal, 1) // before anything says that the server is ready
	signal.Notify(hangups, syscall.SIGHUP)
	leaving, left := context.WithCancel(ctx)
	in.noCA = left
	for _, l := range listeners {
		if l.isOfCA {
			in.others.Go(func() { in.end(l.acme.Serve(leaving, l.Listener)) })
			continue
		}
		l.opts.Drain = &in.drain
		in.clients.Go(func() { in.end(n.Serve(ctx, l.Listener, &l.opts)) }) // without one listener, the server ends
	}
	in.others.Go(func() { in.end(n.Operate(ctx, func() { close(in.ready) })) }) // as without its operators
	in.others.Go(func() {
		n.Watch(ctx, func(r *node.Report, err error) {
			reloaded(logger, r, err)
		})
	})
	in.others.Go(func() {
		defer signal.Stop(hangups)
		reloadOnSignal(ctx, hangups, n, said, logger)
	})
	in.others.Go(func() {
		operator := admin.NewClient(n.Settings().Admin.Socket)
		defer operator.Close()
		if err := systemd.Watch(ctx, func() bool { return operator.Answers(ctx, aliveTime) }); err != nil {
			logger.Warn("service manager not told", "err", err)
		}
	})
	go func() {
		defer close(in.stopped)
		<-ctx.Done()
		in.clients.Wait()
		in.others.Wait()
		in.rest.Wait()
		left()
	}()
	return in
}

// end notes how something has ended that a server cannot be without.
func (in *instance) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err != nil {
		in.errs = append(in.errs, err)
	}
	if !in.left {
		in.stop()
	}
}

// leave stops to accept, and answers what comes on the connections that are open, until they are closed or limit is over.
func (in *instance) leave(limit time.Duration) {
	in.mu.Lock()
	in.left = true
	in.mu.Unlock()
	in.noCA()
	in.drain.Begin(limit)
	in.clients.Wait()
}

// wait waits until all has ended, and closes the node.
func (in *instance) wait() error {
	<-in.stopped
	err := in.node.Close()
	in.mu.Lock()
	defer in.mu.Unlock()
	return errors.Join(append(in.errs, err)...)
}
