package link

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// trimAfter is how long a link is unused before its window releases its memory.
const trimAfter = time.Second

// open makes a link, and sends its other end to the worker.
func (s *Set) open() (*link, error) {
	conn, theirs, err := protocol.Pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	l, err := s.newLink(conn)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Process.Attach(l.id, theirs, l.window.File()); err != nil {
		l.close()
		s.cfg.Process.Kill()
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return l, nil
}

// newLink makes the parent's end of a link over a connection, which it takes over.
func (s *Set) newLink(conn *protocol.Conn) (*link, error) {
	window, err := protocol.NewWindow(0)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	l := &link{set: s, conn: conn, window: window, in: protocol.NewReceiver(conn, window)}
	l.watchdog = time.AfterFunc(time.Hour, l.checkDeadline)
	l.watchdog.Stop()
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
		if l.windowUsed && s.sweep == nil {
			s.sweep = time.AfterFunc(trimAfter, s.trim)
		}
	}
	s.mu.Unlock()
	if closed {
		l.close()
	}
}

// trim releases the memory of windows that have not been used for trimAfter.
func (s *Set) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep = nil
	if s.closed {
		return
	}
	for _, l := range s.idle {
		if l.windowUsed && time.Since(l.used) >= trimAfter {
			_ = l.in.Trim() // memory that is not released serves the next call
			l.windowUsed = false
		}
	}
	if slices.ContainsFunc(s.idle, func(l *link) bool { return l.windowUsed }) {
		s.sweep = time.AfterFunc(trimAfter, s.trim)
	}
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
