package process

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// fewStarts is how many children with namespaces a process starts itself: to fewer, a fork server is not worth its
	// memory.
	fewStarts = 8
	// forkPatience is how long a fork server may take to start a child.
	forkPatience = 2 * time.Second
	// forkRest is for how long it is done without when it has failed.
	forkRest = time.Minute
)

// A forkServer is this program in a process that does nothing but start children for this one. It has little memory: to
// fork a process write-protects all it has, and whoever uses it waits. Go can do without, as by vfork(2), but not where
// a child gets a user namespace.
//
// The children are this process's own, which buries them and without which they die, and not the fork server's. It
// belongs to the starter's thread.
type forkServer struct {
	starts  int       // so far, of children it could have started
	idle    time.Time // until when it is done without
	process *Process  // nil while there is none
	conn    *net.UnixConn
}

var forks forkServer

// isServed says that main has called Main, without which there would be no fork server in the process that is started.
var isServed atomic.Bool

// ForkServer gives the number by which this machine knows the fork server, which is started if it is not there yet: else
// that is done for the ninth child with namespaces. Zero means that there is none, as without Linux, where the machine
// refuses namespaces, and where main has not called [Main].
func ForkServer() (id int) {
	m := machine()
	onStarter(func() {
		if m.permitted&forkable != forkable || !isServed.Load() || forks.begin() != nil {
			return
		}
		forks.starts, forks.idle = fewStarts, time.Time{}
		id = forks.process.ID()
	})
	return id
}

// start starts a child, or gives nil where that is to be done otherwise. An error says that there may be a child, which
// nobody knows, and which has the descriptors it was given.
func (s *forkServer) start(path, name string, attr *os.ProcAttr, own kinds, logger *slog.Logger) (*os.Process, error) {
	if path != ownProgram || own&forkable != forkable || !isServed.Load() {
		return nil, nil
	}
	if s.starts++; s.starts <= fewStarts || time.Now().Before(s.idle) {
		return nil, nil
	}
	dir, err := os.OpenFile(attr.Dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, nil // who starts it otherwise says so
	}
	defer dir.Close()
	p, err := s.request(forkOrder{Name: name, Env: attr.Env, Namespaces: own}, append([]*os.File{dir}, attr.Files...))
	if err == nil {
		return p, nil
	}
	orphan := s.fail(err, logger)
	if orphan && !errors.As(err, new(unstarted)) {
		return nil, fmt.Errorf("fork server: %w", err)
	}
	return nil, nil
}

// unstarted is an error after which there is no child.
type unstarted struct{ error }

// fail does without a fork server for a while. It reports whether the one there was may have left a child that nobody
// knows.
func (s *forkServer) fail(err error, logger *slog.Logger) (orphan bool) {
	s.idle = time.Now().Add(forkRest)
	if s.process == nil {
		return false
	}
	s.process.Kill()
	end := s.process.End()
	orphan = s.orphan()
	_ = s.conn.Close() // nobody is at the other end
	s.process = nil
	if logger != nil {
		logger.Warn("the fork server failed: starts of workers hold up this process", "err", err, "for", forkRest, "end", end, "stderr", end.Stderr)
	}
	return orphan
}

// orphan reports of a fork server that is gone whether it may have left a child that nobody knows: not when its answer
// came too late, nor when it had not taken the order, so that the connection was reset.
func (s *forkServer) orphan() bool {
	_ = s.conn.SetDeadline(time.Time{}) // or reading fails
	var late forked
	if _, err := receive(s.conn, &late); err != nil {
		return !errors.Is(err, unix.ECONNRESET)
	}
	if p, err := os.FindProcess(late.PID); err == nil && late.PID > 0 {
		kill(p)
		_, _ = p.Wait() // is buried
	}
	return false
}

// request has a fork server start a child.
func (s *forkServer) request(order forkOrder, files []*os.File) (*os.Process, error) {
	if err := s.begin(); err != nil {
		return nil, unstarted{err}
	}
	if err := s.conn.SetDeadline(time.Now().Add(forkPatience)); err != nil {
		return nil, unstarted{err}
	}
	if err := send(s.conn, order, files); err != nil {
		return nil, unstarted{err}
	}
	var answer forked
	if _, err := receive(s.conn, &answer); err != nil {
		return nil, err
	}
	if answer.Err != "" {
		return nil, unstarted{errors.New(answer.Err)}
	}
	return os.FindProcess(answer.PID)
}

// begin starts the fork server if there is none.
func (s *forkServer) begin() error {
	if s.process != nil {
		return nil
	}
	conn, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cfg := Config{Name: forkServerName, Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{theirs}, MaxStderr: 4096}
	p := newProcess(cfg, nil)
	if err := p.start(ownProgram, cfg, 0); err != nil {
		return errors.Join(err, conn.Close())
	}
	s.process, s.conn = p, conn
	return nil
}
