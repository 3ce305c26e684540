package subscription

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/internal/mcp"
	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/response"
)

// A subscriber is a subscription on a connection that it has taken from net/http, so that net/http can release its
// buffers. Its goroutine waits in a read, which ends when the client closes the connection. To wake it, for a message
// or when a comment is due, another goroutine sets the deadline of that read. A write that blocks delays no other
// subscription, and ends at its deadline.
type subscriber struct {
	// set before the goroutine starts
	subscription *mcp.Subscription
	conn         net.Conn
	framing      response.Framing
	account      admission.Account // of the client; nil for none

	// owned by the goroutine
	commentDue time.Time
	inMessage  bool     // the last write ended within a message
	discarded  [16]byte // bytes from the client, which have no meaning here

	mu        sync.Mutex         // guards the fields below
	abandon   context.CancelFunc // ends the call of Subscribe; nil once it has returned
	connected bool               // conn is set, and its deadlines are set here alone
	reading   bool               // the goroutine reads: the deadline wakes it
	woken     bool               // there is something to do
	closing   bool               // the Set is closed: the deadline for writes is the last
}

// hijack begins a subscription on the connection of w, or answers with an error. The goroutine of s removes it from the
// Set.
func (set *Set) hijack(s *subscriber, w http.ResponseWriter, r *http.Request, core *mcp.Core, m *mcp.Message) {
	s.account = auth.AccountOf(r.Context())
	failure := s.subscribe(r.Context(), core, m)
	if failure != nil {
		defer set.remove(s)
		response.WriteError(w, m, failure)
		return
	}
	s.framing = response.Framing{Chunked: r.ProtoAtLeast(1, 1)}
	head := s.framing.AppendHead(nil, w.Header())
	conn, _, err := http.NewResponseController(w).Hijack() // bytes that the client has sent already are not read
	if err != nil {
		defer set.remove(s)
		s.subscription.Close()
		response.WriteError(w, m, &mcp.Error{Code: mcp.CodeInternalError, Message: "Internal error"})
		return
	}
	s.connect(detached(conn))
	go func() { // Close waits for it
		defer set.remove(s)
		defer s.release(set.logger)
		if err := s.serve(head); err != nil {
			set.logger.Debug("subscription ended by its client", "err", err)
		}
	}()
}

// subscribe begins the subscription, unless the client goes meanwhile or the Set is closed.
func (s *subscriber) subscribe(ctx context.Context, core *mcp.Core, m *mcp.Message) (failure *mcp.Error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.abandon = cancel
	if s.closing {
		cancel()
	}
	s.mu.Unlock()
	s.subscription, failure = core.Subscribe(ctx, m, s.wake, s.stop)
	s.mu.Lock()
	s.abandon = nil
	s.mu.Unlock()
	return failure
}

// connect sets the connection of s.
func (s *subscriber) connect(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.connected = conn, true
	if s.closing {
		_ = conn.SetWriteDeadline(time.Now().Add(closeTimeout)) // on a broken connection the write fails, too
	}
}

// detached returns the connection without the server's memory for further requests.
func detached(c net.Conn) net.Conn {
	if d, ok := c.(interface{ Detach() net.Conn }); ok {
		return d.Detach()
	}
	return c
}

// wake wakes the goroutine. Any goroutine may call it.
func (s *subscriber) wake() {
	if s.setWoken() {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // in the past; without deadlines there would be no subscriber
	}
}

// setWoken reports whether the goroutine waits in a read, which the caller must end.
func (s *subscriber) setWoken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reading := s.reading
	s.woken, s.reading = true, false
	return reading
}

// stop implements [stopper].
func (s *subscriber) stop() {
	s.shortenDeadline()
	s.wake()
}

// shortenDeadline gives a client that does not read little time from now on.
func (s *subscriber) shortenDeadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	if s.abandon != nil {
		s.abandon()
	}
	if s.connected {
		_ = s.conn.SetWriteDeadline(time.Now().Add(closeTimeout)) // on a broken connection the write fails, too
	}
}
