package hosting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/acme"
	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/filelock"
	"github.com/wasmres/wasmres/internal/ledger"
	"github.com/wasmres/wasmres/internal/node"
	"github.com/wasmres/wasmres/internal/systemd"
	"github.com/wasmres/wasmres/internal/takeover"
	"github.com/wasmres/wasmres/internal/tenant"
)

const (
	drainTime     = 30 * time.Second      // for connections of a server that was replaced
	stopDrainTime = 2 * time.Second       // for connections of a server that ends, whose sockets the service manager keeps
	checkTime     = time.Minute           // for reading what a server has, before it is replaced
	reopenTime    = time.Second           // between tries to open the files again
	lockTime      = 10 * time.Millisecond // between tries to open those of a process that has ended
)

// A server is this process as a server, from its start to its end.
type server struct {
	// fixed at creation
	context  *cli.Context
	settings *tenant.Settings
	isNew    bool
	logger   *slog.Logger
	logsJSON bool // logger writes JSON, and so does nothing else on its output
	config   node.Config

	said *statusLine // made by begin

	isActivated bool                      // the service manager has the sockets
	node        atomic.Pointer[node.Node] // that serves; nil before

	taking sync.Mutex // held while a process takes this server over
	handed chan handed
	lost   chan struct{} // the files are closed after a takeover that has failed
}

// A handed server is one that another process has taken over.
type handed struct {
	*takeover.Given
	done chan<- struct{} // closed when the process knows the rest
}

// begin takes over the running server, or opens a node by itself, and serves.
func (s *server) begin() (in *instance, err error) {
	s.handed, s.lost, s.said = make(chan handed), make(chan struct{}), &statusLine{logger: s.logger}
	ctx := s.context.Context
	if s.context.Bool("takeover") {
		conn, err := admin.DialTakeover(ctx, s.settings.Admin.Socket)
		if err == nil {
			return s.takeOver(conn)
		}
		if !errors.Is(err, admin.ErrUnreachable) {
			return nil, fmt.Errorf("take over the running server: %w", err)
		}
		s.logger.Info("no server to take over: this one begins by itself", "socket", s.settings.Admin.Socket)
	}
	activated, err := systemd.Sockets()
	if err != nil {
		return nil, err
	}
	s.isActivated = len(activated) > 0
	sockets := &takeover.Sockets{}
	n, report, err := s.open(ctx, sockets)
	if err != nil {
		return nil, err
	}
	listeners, err := listen(s.settings, sockets, activated, s.asks, s.logger)
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return s.serve(n, report, sockets, listeners)
}

// open opens a node.
func (s *server) open(ctx context.Context, sockets *takeover.Sockets) (*node.Node, *node.Report, error) {
	config := s.config
	config.Sockets = sockets
	var n *node.Node
	config.Takeover = func(conn *net.UnixConn, operator string) { s.giveTo(n, sockets, conn, operator) }
	config.Changed = func() {
		if now := s.node.Load(); now != nil {
			s.said.update(now)
		}
	}
	var report *node.Report
	var err error
	n, report, err = node.Open(ctx, config)
	return n, report, err
}

// serve greets, and serves.
func (s *server) serve(n *node.Node, report *node.Report, sockets *takeover.Sockets, listeners []listener) (*instance, error) {
	logReport(s.logger, report)
	if err := s.greet(n, listeners, report); err != nil {
		return nil, errors.Join(err, closeAll(listeners), n.Close())
	}
	return s.start(n, sockets, listeners), nil
}

// asks reports whether a tenant accepts certificates of clients.
func (s *server) asks() bool {
	n := s.node.Load()
	return n != nil && n.AsksForCertificates()
}

// start serves.
func (s *server) start(n *node.Node, sockets *takeover.Sockets, listeners []listener) *instance {
	s.node.Store(n)
	var managed *acme.Manager
	for _, l := range listeners {
		if l.certificate != nil {
			n.AddCertificate(l.certificate)
		}
		if l.acme != nil && managed == nil {
			managed = l.acme
			n.ManageCertificates(managed)
		}
	}
	return start(n, sockets, listeners, s.said, s.logger)
}

// takeOver replaces the server at the other end of a connection. Whatever fails leaves that serving.
func (s *server) takeOver(conn *net.UnixConn) (_ *instance, err error) {
	data, err := dataOf(s.settings)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	from, err := takeover.Take(conn, data)
	if err != nil {
		return nil, fmt.Errorf("take over the running server: %w", err)
	}
	in, err := s.takeFrom(from)
	if err != nil {
		from.Fail(err)
		return nil, errors.Join(fmt.Errorf("take over the running server, which goes on: %w", err), from.Close())
	}
	return in, nil
}

func (s *server) takeFrom(from *takeover.Taking) (*instance, error) {
	ctx, cancel := context.WithTimeout(s.context.Context, checkTime)
	defer cancel()
	if err := node.Check(ctx, s.settings); err != nil {
		return nil, err
	}
	listeners, err := listen(s.settings, from.Sockets(), nil, s.asks, s.logger)
	if err != nil {
		return nil, err
	}
	if err := from.Ready(); err != nil {
		return nil, errors.Join(err, closeAll(listeners))
	}
	n, report, err := s.openAfter(ctx, from)
	if err != nil {
		return nil, errors.Join(err, closeAll(listeners))
	}
	in, err := s.serve(n, report, from.Sockets(), listeners)
	if err != nil {
		return nil, err
	}
	select {
	case <-in.ready:
		err = from.Serving()
	case <-in.stopped:
		err = errors.New("this server has ended")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		in.stop()
		return nil, errors.Join(err, in.wait())
	}
	s.logger.Info("server taken over", "unused", from.Sockets().CloseUnused())
	tell(s.logger, systemd.Main())
	in.rest.Go(func() { in.addRest(from) })
	return in, nil
}

// openAfter opens a node on the files of an earlier server. It waits while the kernel still closes those of a process that has ended.
func (s *server) openAfter(ctx context.Context, from *takeover.Taking) (*node.Node, *node.Report, error) {
	if from.HasEnded() {
		s.logger.Warn("the running server has ended without an answer: this one serves in its place")
	}
	for {
		n, report, err := s.open(ctx, from.Sockets())
		if !from.HasEnded() || !errors.Is(err, filelock.ErrHeld) {
			return n, report, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(lockTime):
		}
	}
}

// addRest waits until the earlier server has ended, and counts what that has counted last.
func (in *instance) addRest(from *takeover.Taking) {
	defer context.AfterFunc(in.ctx, func() { _ = from.Close() })()
	var left node.Left
	err := from.Rest(&left, drainTime+time.Minute)
	if err == nil {
		in.node.Add(left)
		in.logger.Info("the server before this one has ended", "usage", len(left.Usage), "entries", len(left.Ledger))
	} else {
		in.logger.Warn("the last counts of the server before this one are lost", "err", err)
	}
	_ = from.Close()
}

// giveTo hands the server to a process that asks for it, and returns when that knows all.
func (s *server) giveTo(n *node.Node, sockets *takeover.Sockets, conn *net.UnixConn, operator string) {
	logger := s.logger.With("by", operator)
	release := func() error {
		logger.Info("a new server is ready, it gets the files")
		return n.Release(ledger.WithCause(context.Background(), &ledger.Cause{Actor: operator, Via: "socket"}))
	}
	giving := takeover.Giving{Sockets: sockets, Release: release}
	var err error
	if giving.Data, err = dataOf(s.settings); err != nil {
		logger.Warn("server not replaced, it goes on", "err", err)
		return
	}
	if !s.taking.TryLock() {
		giving.Refuse = errors.New("another process is taking the server over: wait for that")
	} else {
		defer s.taking.Unlock()
	}
	given, err := takeover.Give(conn, giving)
	released := (*takeover.ReleasedError)(nil)
	ctx := s.context.Context
	switch {
	case errors.As(err, &released):
		logger.Error("server not replaced: it opens its files again", "err", err)
		select {
		case s.lost <- struct{}{}:
		case <-ctx.Done():
		}
	case err != nil:
		logger.Warn("server not replaced, it goes on", "err", err)
	default:
		done := make(chan struct{})
		select {
		case s.handed <- handed{given, done}:
			<-done
		case <-ctx.Done():
		}
	}
}

// run serves until a signal or another process ends this one.
func (s *server) run(in *instance) error {
	ctx := s.context.Context
	earlier := sync.WaitGroup{} // instances that are being emptied
	defer earlier.Wait()
	select {
	case <-in.ready:
		s.said.ready(in.node)
	case <-in.stopped:
		return in.wait()
	case <-ctx.Done():
	}
	for {
		var retry <-chan time.Time
		select {
		case h := <-s.handed:
			return s.leave(in, h)
		case <-s.lost:
			retry = time.After(0)
		case <-in.stopped:
			tell(s.logger, systemd.Stopping())
			return in.wait()
		case <-ctx.Done():
			tell(s.logger, systemd.Stopping())
			if s.isActivated {
				in.leave(stopDrainTime)
			}
			in.stop()
			return in.wait()
		}
		for retry != nil {
			select {
			case h := <-s.handed: // another try of the new server
				return s.leave(in, h)
			case <-s.lost:
				continue
			case <-ctx.Done():
				in.stop()
				return in.wait()
			case <-retry:
			}
			next, err := s.again(in)
			if err != nil {
				s.logger.Error("files not opened again: changes are refused, clients are served", "err", err, "retry_in", reopenTime)
				retry = time.After(reopenTime)
				continue
			}
			old := in
			earlier.Go(func() {
				old.leave(drainTime)
				old.stop()
				if err := old.wait(); err != nil {
					s.logger.Warn("server not closed", "err", err)
				}
				next.node.Add(old.node.Left())
			})
			in, retry = next, nil
		}
	}
}

// again opens the files after a takeover that has failed, by another node on the same sockets.
func (s *server) again(in *instance) (*instance, error) {
	sockets, err := in.sockets.Copy()
	if err != nil {
		return nil, err
	}
	n, report, err := s.open(s.context.Context, sockets)
	if err != nil {
		sockets.CloseUnused()
		return nil, err
	}
	listeners, err := listen(s.settings, sockets, nil, s.asks, s.logger)
	if err != nil {
		sockets.CloseUnused()
		return nil, errors.Join(err, n.Close())
	}
	logReport(s.logger, report)
	return s.start(n, sockets, listeners), nil
}

// leave ends the process after another one has taken the server over.
func (s *server) leave(in *instance, h handed) error {
	s.logger.Info("server handed over: connections that are open are served until they end", "limit", drainTime)
	defer context.AfterFunc(s.context.Context, in.stop)()
	in.leave(drainTime)
	in.rest.Wait() // what the process before this one has counted
	in.stop()
	err := in.wait()
	defer close(h.done)
	return errors.Join(err, h.Close(in.node.Left()))
}

// dataOf returns the path by which two processes know that they mean the same server.
func dataOf(s *tenant.Settings) (string, error) {
	path, err := filepath.Abs(s.Data)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("the folder of data: %w", err)
	}
	return path, nil
}
