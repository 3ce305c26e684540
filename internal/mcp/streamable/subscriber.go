package streamable

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wasmres/wasmres/internal/mcp"
	"github.com/wasmres/wasmres/internal/mcp/streamable/response"
)

// A subscriber is a client whose connection was taken from net/http, with all that is kept there for requests to come.
// One goroutine waits for bytes of the client, which are not expected: it sees at once when the client goes, and it is
// the read's deadline that wakes it when there is something to write or the stream has been silent for long. A write
// that does not get on holds up nobody else, until its deadline ends it.
type subscriber struct {
	// set before the goroutine starts
	subscription *mcp.Subscription
	conn         net.Conn
	framing      response.Framing

	// owned by the goroutine
	silentUntil time.Time // when a comment is due
	within      bool      // the last write ended within a message
	stray       [16]byte  // what the client says, which nobody wants to know

	mu      sync.Mutex         // guards the fields below
	abandon context.CancelFunc // of the beginning; nil once that is over
	begun   bool               // conn is there, and its deadlines are ours
	reading bool               // the read's deadline wakes the goroutine
	woken   bool               // there is something to do
	closing bool               // the server ends, and the write's deadline is the last
}

// begin starts a subscription, whose goroutine leaves the Handler in the end, or answers why not.
func (h *Handler) begin(s *subscriber, w http.ResponseWriter, r *http.Request, m *mcp.Message) {
	failure := s.subscribe(r.Context(), h.cfg.Core, m)
	if failure != nil {
		defer h.leave(s)
		response.WriteError(w, m, failure)
		return
	}
	s.framing = response.Framing{Chunked: r.ProtoAtLeast(1, 1)}
	head := s.framing.AppendHead(nil, w.Header())
	conn, _, err := http.NewResponseController(w).Hijack() // what the client has sent already is not read
	if err != nil {
		defer h.leave(s)
		s.subscription.Close()
		response.WriteError(w, m, &mcp.Error{Code: mcp.CodeInternalError, Message: "Internal error"})
		return
	}
	s.take(bare(conn))
	go func() { // Close waits for it
		defer h.leave(s)
		defer s.release(h.cfg.Logger)
		if err := s.serve(head); err != nil {
			h.cfg.Logger.Debug("subscription ended by its client", "error", err)
		}
	}()
}

// subscribe begins the subscription, unless the client goes meanwhile or the server ends.
func (s *subscriber) subscribe(ctx context.Context, core *mcp.Core, m *mcp.Message) (failure *mcp.Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.abandon = cancel
	if s.closing {
		cancel()
	}
	s.mu.Unlock()
	s.subscription, failure = core.Subscribe(ctx, m, s.wake, s.end)
	s.mu.Lock()
	s.abandon = nil
	s.mu.Unlock()
	return failure
}

// take makes the connection that of s.
func (s *subscriber) take(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.begun = conn, true
	if s.closing {
		_ = conn.SetWriteDeadline(time.Now().Add(closingPatience)) // a failure shows when writing
	}
}

// wake has the goroutine look for what there is to do.
func (s *subscriber) wake() {
	if s.note() {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // in the past; without deadlines it had not begun
	}
}

// note reports whether the goroutine has to be woken, too.
func (s *subscriber) note() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reading := s.reading
	s.woken, s.reading = true, false
	return reading
}

// bare gives a connection without what a Server keeps beside it for requests to come.
func bare(c net.Conn) net.Conn {
	if ours, ok := c.(*conn); ok {
		ours.server.forget(ours)
		return ours.Conn
	}
	return c
}

// end implements [ender]. A client that does not read gets little time for that from now on.
func (s *subscriber) end() {
	s.hurry()
	s.wake()
}

func (s *subscriber) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	if s.abandon != nil {
		s.abandon()
	}
	if s.begun {
		_ = s.conn.SetWriteDeadline(time.Now().Add(closingPatience)) // a failure shows when writing
	}
}
