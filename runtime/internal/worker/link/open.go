package link

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/deadline"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// trimAfter is how long a link is unused before its window releases its memory.
const trimAfter = time.Second

// open makes a link, and sends its other end to the worker. The error is [abi.CodeUnavailable] with the time to retry after
// when this process has no descriptors left.
func (s *Set) open() (*link, error) {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return nil, noLink(err)
	}
	defer theirs.Close()
	l, err := s.newLink(conn)
	if err != nil {
		return nil, noLink(err)
	}
	if err := s.cfg.Process.Attach(l.id, theirs, l.window.File()); err != nil {
		l.close()
		s.cfg.Process.Kill()
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return l, nil
}

// noLink returns the error of a call for which no link can be made.
func noLink(err error) error {
	e := abi.Errorf(abi.CodeUnavailable, "the server has no room for another call of the provider now")
	e.RetryAfter = time.Second
	return e.Because(err)
}

// newLink makes the parent's end of a link over a connection, which it takes over.
func (s *Set) newLink(conn *protocol.Conn) (*link, error) {
	window, err := protocol.NewWindow(0)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := conn.UsePipes(window); err != nil {
		return nil, errors.Join(err, window.Close(), conn.Close())
	}
	l := &link{set: s, conn: conn, window: window, in: protocol.NewReceiver(conn, window), used: time.Now()}
	l.watchdog = deadline.NewWatch(l.checkDeadline)
	s.mu.Lock()
	defer s.mu.Unlock()
	l.id = s.opened
	s.opened++
	return l, nil
}

// release makes a link without calls idle.
func (s *Set) release(l *link) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.idle = append(s.idle, l)
		s.sweepLaterLocked(l)
	}
	s.mu.Unlock()
	if closed {
		l.close()
	}
}

// sweepLaterLocked has the idle links looked at in a while, if l has something to release.
func (s *Set) sweepLaterLocked(l *link) {
	if s.sweep == nil && (l.windowUsed || !l.isFirst()) {
		s.sweep = time.AfterFunc(min(trimAfter, s.cfg.Idle), s.trim)
	}
}

// isFirst reports whether this is the link that a worker is started with. It lasts as long as the worker.
func (l *link) isFirst() bool { return l.id == 0 }

// trim releases the memory of windows that have not been used for trimAfter, and closes links that have not been used for
// Config.Idle.
func (s *Set) trim() {
	s.mu.Lock()
	s.sweep = nil
	var unused []*link
	if !s.closed {
		unused = s.trimLocked()
	}
	s.mu.Unlock()
	for _, l := range unused {
		l.close()
	}
}

func (s *Set) trimLocked() (unused []*link) {
	s.idle = slices.DeleteFunc(s.idle, func(l *link) bool {
		unusedFor := time.Since(l.used)
		if !l.isFirst() && unusedFor >= s.cfg.Idle {
			unused = append(unused, l)
			return true
		}
		if l.windowUsed && unusedFor >= trimAfter {
			_ = l.in.Trim() // memory that is not released serves the next call
			l.windowUsed = false
		}
		return false
	})
	for _, l := range s.idle {
		s.sweepLaterLocked(l)
	}
	return unused
}

// Close releases the idle links. Links with a call are released when it ends.
func (s *Set) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	if s.sweep != nil {
		s.sweep.Stop()
	}
	s.mu.Unlock()
	for _, l := range idle {
		l.close()
	}
}
