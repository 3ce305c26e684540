package process

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// fewStarts is how many children with namespaces a process starts itself: for fewer, a fork server is not worth its
	// memory.
	fewStarts = 8
	// forkPatience is how long a fork server may take to start a child, and itself before the first. On a busy machine that takes
	// seconds. A fork server that takes longer is killed.
	forkPatience = 10 * time.Second
	// forkRest is how long this process starts children itself after the fork server has failed.
	forkRest = time.Minute
)

// A forkServer is a process of this program that only starts children for this one. It has little memory: fork
// write-protects all memory of a process, and each thread that writes to it then waits. Go avoids that as by vfork(2),
// but not for a child with a user namespace.
//
// The children are this process's own: it reaps them, and they die with it, not with the fork server. Only the
// starter's thread uses a forkServer.
type forkServer struct {
	starts  int       // children so far that it could have started
	idle    time.Time // until when it is not used
	process *Process  // nil while there is none
	conn    *net.UnixConn
}

var forks forkServer

// isServed is set when main has called Main: without that, a started process would not be a fork server.
var isServed atomic.Bool

// ForkServer returns the process id of the fork server, and starts it if necessary; otherwise the ninth child with
// namespaces starts it. It returns zero when there is none: without Linux, where the machine refuses namespaces, and
// where main has not called [Main].
func ForkServer() (id int) {
	m := machine()
	onForkThread(func() {
		if m.permitted&forkable != forkable || !isServed.Load() || forks.begin() != nil {
			return
		}
		forks.starts, forks.idle = fewStarts, time.Time{}
		id = forks.process.ID()
	})
	return id
}

// start starts a child, or returns nil if the caller must start it in another way. After an error there may be an
// unknown child with the descriptors.
func (s *forkServer) start(path, name string, attr *os.ProcAttr, own kinds, logger *slog.Logger) (*os.Process, error) {
	if path != ownProgram || own&forkable != forkable || !isServed.Load() {
		return nil, nil
	}
	if s.starts++; s.starts <= fewStarts || time.Now().Before(s.idle) {
		return nil, nil
	}
	order, err := newForkOrder(name, attr, own)
	if err != nil {
		return nil, nil // the caller starts it in another way, and gets the error if there is one
	}
	defer order.close()
	p, err := s.request(order)
	if err == nil {
		return p, nil
	}
	var refused refusal
	if !errors.As(err, &refused) {
		s.fail(err, logger)
	}
	if stray := reapOrphans(); stray != nil && order.sent {
		return nil, fmt.Errorf("fork server: %w (%w)", err, stray)
	}
	return nil, nil
}

// A refusal is the error for a child that could not be started.
type refusal struct{ error }

// fail stops using a fork server for a while.
func (s *forkServer) fail(err error, logger *slog.Logger) {
	s.idle = time.Now().Add(forkRest)
	if s.process == nil {
		return
	}
	s.process.Kill()
	end := s.process.End()
	_ = s.conn.Close() // the other end is closed
	s.process = nil
	if logger != nil {
		logger.Warn("the fork server failed: starts of workers hold up this process", "err", err, "for", forkRest, "end", end, "stderr", end.Stderr)
	}
}

// request asks the fork server for a child.
func (s *forkServer) request(order *order) (*os.Process, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	if err := s.conn.SetDeadline(time.Now().Add(forkPatience)); err != nil {
		return nil, err
	}
	order.sent = true
	if err := send(s.conn, order.text, order.files); err != nil {
		return nil, err
	}
	var answer forkResult
	if _, err := receive(s.conn, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Err != "":
		return nil, refusal{errors.New(answer.Err)}
	case answer.PID <= 1:
		return nil, fmt.Errorf("child %d", answer.PID)
	}
	return os.FindProcess(answer.PID)
}

// begin starts the fork server, unless it runs.
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
