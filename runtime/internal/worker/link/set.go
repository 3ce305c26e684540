package link

import (
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
)

// A Process is the worker process. It is safe for concurrent use.
type Process interface {
	Kill()
	// Cancel tells the worker that the caller no longer waits for a call.
	Cancel(link uint32, seq uint64)
	// Pause has the guest of a call stand still, or go on.
	Pause(link uint32, seq uint64, on bool)
	// Attach adds a link to the worker: its end of the socket, and the file of the window. The caller closes both.
	Attach(id uint32, files ...*os.File) error
	// SetBackground makes the process run in the background, or ends that.
	SetBackground(bool)
	// Contended reports whether the modules of other workers were called recently.
	Contended() bool
}

// Config configures a Set. All fields are required.
type Config struct {
	Process Process
	// Grace is how long after its deadline a call may end by itself, before its worker is killed.
	Grace time.Duration
	// PipelineUnder is the mean time of calls below which calls wait for each other on one link, so that neither
	// process sleeps in between.
	PipelineUnder time.Duration
	// Idle is how long a link is unused before it is closed, unless it is the only one.
	Idle   time.Duration
	Logger *slog.Logger
}

// A Module describes the module whose guests the worker runs.
type Module struct {
	*guest.Host
	Quota *Quota // of all workers of the module
}

// maxQueueTime is how long calls wait behind another one before they move to other links.
const maxQueueTime = 2 * time.Millisecond

// A Set has the links to one worker. It is safe for concurrent use.
type Set struct {
	// fixed at creation
	cfg   Config
	began time.Time // which deadlines are relative to

	// fixed once the worker is started
	module    Module
	maxShared int // how many links are shared at once; 0 for none

	background background

	mu         sync.Mutex // guards the fields below, and fields of each link
	opened     uint32
	idle       []*link       // the one used last is at the end
	shared     []*link       // with a call under way, behind which others may wait
	meanTime   time.Duration // of calls
	pipelining bool          // calls are quick: links are shared
	draining   int           // links with abandoned replies: none is shared meanwhile
	sweep      *time.Timer
	closed     bool
}

// New makes a Set without links.
func New(cfg Config) *Set {
	return &Set{cfg: cfg, began: time.Now(), meanTime: maxQueueTime, pipelining: maxQueueTime < cfg.PipelineUnder/4}
}

// Add adds a link over a connection, which it owns from then on, also after an error. It returns the file of the link's
// window for the worker.
func (s *Set) Add(conn *protocol.Conn) (window *os.File, err error) {
	l, err := s.newLink(conn)
	if err != nil {
		return nil, err
	}
	s.release(l)
	return l.window.File(), nil
}

// assign puts a call on a link.
func (s *Set) assign(c *pendingCall) error {
	for {
		if s.tryAssign(c) {
			return nil
		}
		l, err := s.open()
		if err != nil {
			return err
		}
		s.release(l)
	}
}

// tryAssign puts a call on an idle link, or behind others on a shared one when enough links are shared. It reports
// whether there was one.
func (s *Set) tryAssign(c *pendingCall) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.shares && s.isSharing() && (len(s.shared) >= s.maxShared || len(s.idle) == 0) {
		if l := s.shortestQueue(c.size()); l != nil {
			l.enqueue(c)
			return true
		}
	}
	if len(s.idle) == 0 {
		return false
	}
	s.pop().put(c)
	return true
}

// pop removes the idle link that was used last. The caller holds mu, and knows that there is one.
func (s *Set) pop() *link {
	last := len(s.idle) - 1
	l := s.idle[last]
	s.idle = s.idle[:last]
	return l
}

// shortestQueue returns the shared link with the fewest calls, if one has room for a further call of that size.
func (s *Set) shortestQueue(size int) (best *link) {
	for _, l := range s.shared {
		if len(l.calls) < protocol.MaxQueuedCalls && l.queuedBytes+size <= protocol.MaxQueuedBytes &&
			(best == nil || len(l.calls) < len(best.calls)) {
			best = l
		}
	}
	return best
}

// share lets others wait on a link whose first call has been sent.
func (s *Set) share(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isSharing() && len(s.shared) < s.maxShared {
		s.shared = append(s.shared, l)
	}
}

// isSharing reports whether links are shared.
func (s *Set) isSharing() bool { return s.pipelining && s.draining == 0 }

// unshare lets no more calls wait on a link. The caller holds mu.
func (s *Set) unshare(l *link) {
	s.shared = slices.DeleteFunc(s.shared, func(other *link) bool { return other == l })
}

// finish ends the call under way on a link, and starts the next one.
func (s *Set) finish(l *link, took time.Duration) {
	l.endWatch()
	s.mu.Lock()
	s.noteTime(took)
	l.calls = slices.Delete(l.calls, 0, 1)
	abandoned, next := []uint64(nil), (*pendingCall)(nil)
	if len(l.calls) > 0 {
		next = l.calls[0]
		l.queuedBytes -= next.size()
	} else {
		s.unshare(l)
		abandoned, l.abandonedReplies = l.abandonedReplies, nil
	}
	if len(abandoned) > 0 {
		s.draining++
	}
	s.mu.Unlock()
	switch {
	case next != nil:
		next.state <- ready
	case len(abandoned) > 0:
		go l.drain(abandoned)
	default:
		s.release(l)
	}
}

// drained makes a link idle when all its abandoned replies have come.
func (s *Set) drained(l *link) {
	s.mu.Lock()
	s.draining--
	s.mu.Unlock()
	s.release(l)
}

// meanCalls is about how many calls the mean time is taken of: few enough to follow the guest, and so many that calls go on to
// share links after the machine has stopped one of them for maxQueueTime, as a busy machine does.
const meanCalls = 32

// noteTime updates the mean time of calls. Calls count as quick again only when they are much quicker than the limit,
// so that links of guests that are sometimes slow are not shared.
func (s *Set) noteTime(took time.Duration) {
	s.meanTime += (min(took, maxQueueTime) - s.meanTime) / meanCalls
	switch {
	case s.meanTime > s.cfg.PipelineUnder:
		s.pipelining = false
	case s.meanTime < s.cfg.PipelineUnder/4:
		s.pipelining = true
	}
}

// abandon marks the calls that wait on a link as lost.
func (s *Set) abandon(l *link) {
	s.mu.Lock()
	others := l.calls
	l.calls = nil
	s.unshare(l)
	s.mu.Unlock()
	for _, c := range others[min(1, len(others)):] {
		c.state <- lost
	}
}

// setModule sets whose guests the worker runs. Calls share no link if guest state outlives a call, since then their
// order matters.
func (s *Set) setModule(m Module) {
	s.module = m
	if m.MaxLifecycle == abi.LifecycleFresh {
		s.maxShared = max(1, runtime.GOMAXPROCS(0)/2)
	}
}
