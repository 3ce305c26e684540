package worker

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/worker/wire"
)

// links are those of a worker that no call is using. It is safe for concurrent use.
type links struct {
	worker *worker

	mu     sync.Mutex // guards the fields below
	made   uint32
	idle   []*link // the one used last is at the end
	sweep  *time.Timer
	closed bool
}

// idleTime is how long a link is unused before its window gives its memory back.
const idleTime = time.Second

// take gives an idle link, or a new one.
func (t *links) take() (*link, error) {
	t.mu.Lock()
	if last := len(t.idle) - 1; last >= 0 {
		l := t.idle[last]
		t.idle = t.idle[:last]
		t.mu.Unlock()
		return l, nil
	}
	t.mu.Unlock()
	return t.open()
}

// open makes a link and hands its other end to the worker.
func (t *links) open() (*link, error) {
	conn, theirs, err := wire.Pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	l, err := t.make(conn)
	if err != nil {
		return nil, err
	}
	if err := t.worker.sendLink(l.id, theirs, l.window.File()); err != nil {
		l.close()
		t.worker.process.Kill()
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return l, nil
}

// make makes the parent's end of a link, over a connection that it takes over.
func (t *links) make(conn *wire.Conn) (*link, error) {
	window, err := wire.NewWindow(0)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	l := &link{worker: t.worker, conn: conn, window: window, in: wire.NewReceiver(conn, window)}
	l.watchdog = time.AfterFunc(time.Hour, l.bark)
	l.watchdog.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	l.id = t.made
	t.made++
	return l, nil
}

// give takes a link back.
func (t *links) give(l *link) {
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.idle = append(t.idle, l)
		if l.wide && t.sweep == nil {
			t.sweep = time.AfterFunc(idleTime, t.trim)
		}
	}
	t.mu.Unlock()
	if closed {
		l.close()
	}
}

// trim gives back the memory of windows that were used and are not any more.
func (t *links) trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep = nil
	if t.closed {
		return
	}
	for _, l := range t.idle {
		if l.wide && time.Since(l.used) >= idleTime {
			_ = l.in.Trim() // what stays is in use again with the next call
			l.wide = false
		}
	}
	if slices.ContainsFunc(t.idle, func(l *link) bool { return l.wide }) {
		t.sweep = time.AfterFunc(idleTime, t.trim)
	}
}

// close releases the idle links. Those in use are released by who uses them.
func (t *links) close() {
	t.mu.Lock()
	idle := t.idle
	t.idle, t.closed = nil, true
	if t.sweep != nil {
		t.sweep.Stop()
	}
	t.mu.Unlock()
	for _, l := range idle {
		l.close()
	}
}
