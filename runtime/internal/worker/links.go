package worker

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

const (
	// idleTime is how long a link is unused before its window gives its memory back.
	idleTime = time.Second
	// stall is how long a call may last while others wait behind it; then they take other links.
	stall = 2 * time.Millisecond
)

// links are those of a worker. It is safe for concurrent use.
type links struct {
	worker *worker
	most   int // how many links are shared at once; 0 for none
	quick  time.Duration

	mu     sync.Mutex // guards the fields below, and what of each link is said to be
	made   uint32
	idle   []*link       // the one used last is at the end
	shared []*link       // calls are under way, and others may wait behind them
	pace   time.Duration // what calls take, on the average
	fast   bool          // they are quick: links are shared
	drains int           // links that hear of calls which went elsewhere: none is shared meanwhile
	sweep  *time.Timer
	closed bool
}

// allow says how many links may be shared: what lasts from one call to the next is no business of one that waits.
func (t *links) allow(granted abi.Lifecycle) {
	if granted == abi.LifecycleFresh {
		t.most = max(1, runtime.GOMAXPROCS(0)/2)
	}
}

// board finds a link for a trip, and puts what the worker is to be told where it is sent next.
func (t *links) board(tr *trip) error {
	for {
		if t.place(tr) {
			return nil
		}
		l, err := t.open()
		if err != nil {
			return err
		}
		t.give(l)
	}
}

// place puts a trip on a link, if there is one: an idle one, or behind others on one of those that are shared when there
// are enough of them.
func (t *links) place(tr *trip) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tr.shares && t.sharing() && (len(t.shared) >= t.most || len(t.idle) == 0) {
		if l := t.roomiest(tr.size()); l != nil {
			l.follow(tr)
			return true
		}
	}
	if len(t.idle) == 0 {
		return false
	}
	t.pop().put(tr)
	return true
}

// take gives an idle link to who knows that there is one.
func (t *links) take() *link {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pop()
}

// pop takes the idle link that was used last. It is called with mu held, when there is one.
func (t *links) pop() *link {
	last := len(t.idle) - 1
	l := t.idle[last]
	t.idle = t.idle[:last]
	return l
}

// roomiest is the shared link with the fewest calls, if one has room for another of that size.
func (t *links) roomiest(size int) (best *link) {
	for _, l := range t.shared {
		if len(l.trips) < protocol.MaxQueuedCalls && l.ahead+size <= protocol.MaxQueuedBytes && (best == nil || len(l.trips) < len(best.trips)) {
			best = l
		}
	}
	return best
}

// share lets others onto a link whose first call has been sent.
func (t *links) share(l *link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sharing() && len(t.shared) < t.most {
		t.shared = append(t.shared, l)
	}
}

// leave ends the trip that is under way on a link, and lets the next one have its turn.
func (t *links) leave(l *link, took time.Duration) {
	l.rest()
	t.mu.Lock()
	t.learn(took)
	l.trips = slices.Delete(l.trips, 0, 1)
	strays, next := []uint64(nil), (*trip)(nil)
	if len(l.trips) > 0 {
		next = l.trips[0]
		l.ahead -= next.size()
	} else {
		t.unshare(l)
		strays, l.strays = l.strays, nil
	}
	if len(strays) > 0 {
		t.drains++
	}
	t.mu.Unlock()
	switch {
	case next != nil:
		next.turn <- itsTurn
	case len(strays) > 0:
		go l.drain(strays)
	default:
		t.give(l)
	}
}

// drained takes a link back that has heard of all that went elsewhere.
func (t *links) drained(l *link) {
	t.mu.Lock()
	t.drains--
	t.mu.Unlock()
	t.give(l)
}

// learn takes into account what a call has taken. What was slow is quick again when it is much quicker than it must be:
// guests that are slow now and then are to have no links to share.
func (t *links) learn(took time.Duration) {
	t.pace += (min(took, stall) - t.pace) / 8
	switch {
	case t.pace > t.quick:
		t.fast = false
	case t.pace < t.quick/4:
		t.fast = true
	}
}

// sharing says whether links are shared.
func (t *links) sharing() bool { return t.fast && t.drains == 0 }

// abandon tells those who wait on a link that it is of no more use.
func (t *links) abandon(l *link) {
	t.mu.Lock()
	others := l.trips
	l.trips = nil
	t.unshare(l)
	t.mu.Unlock()
	for _, tr := range others[min(1, len(others)):] {
		tr.turn <- over
	}
}

// unshare lets nobody onto a link any more.
func (t *links) unshare(l *link) {
	t.shared = slices.DeleteFunc(t.shared, func(other *link) bool { return other == l })
}

// open makes a link and hands its other end to the worker.
func (t *links) open() (*link, error) {
	conn, theirs, err := protocol.Pair()
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
func (t *links) make(conn *protocol.Conn) (*link, error) {
	window, err := protocol.NewWindow(0)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	l := &link{worker: t.worker, conn: conn, window: window, in: protocol.NewReceiver(conn, window)}
	l.watchdog = time.AfterFunc(time.Hour, l.onTimer)
	l.watchdog.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	l.id = t.made
	t.made++
	return l, nil
}

// give takes a link that has no calls.
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
