package mcp

import (
	"context"
	"slices"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/admission"
	"github.com/wasmres/wasmres/runtime/auth"
)

// streams counts the open streams of changes, of revisions with and without sessions. Their number is bounded. If all
// places are taken, a client with fewer streams than another gets the place of that client's oldest stream: so no client
// can keep others out. It is safe for concurrent use.
type streams struct {
	max int // fixed at creation

	mu      sync.Mutex // guards the fields below
	open    int
	clients map[string][]*openStream // by client, as [ClientOf] names it; oldest first
}

// An openStream is the place of one stream.
type openStream struct{ end func() }

func newStreams(most int) *streams {
	return &streams{max: most, clients: make(map[string][]*openStream)}
}

func (s *streams) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// take returns a place for a stream of a client; nil if there is none. end is called when another client has got the
// place; the stream should then end soon. The caller calls leave.
func (s *streams) take(client string, end func()) *openStream {
	taken, evicted := s.tryTake(client, end)
	if evicted != nil {
		evicted.end()
	}
	return taken
}

func (s *streams) tryTake(client string, end func()) (taken, evicted *openStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.max {
		largest := s.largestLocked()
		if len(s.clients[largest]) <= len(s.clients[client])+1 {
			return nil, nil
		}
		evicted = s.clients[largest][0]
		s.removeLocked(largest, 0)
	}
	taken = &openStream{end}
	s.clients[client] = append(s.clients[client], taken)
	s.open++
	return taken, evicted
}

// largestLocked returns a client with the most streams.
func (s *streams) largestLocked() (largest string) {
	for client, open := range s.clients {
		if len(open) > len(s.clients[largest]) {
			largest = client
		}
	}
	return largest
}

// leave frees a place, unless another stream has got it. It is idempotent.
func (s *streams) leave(client string, p *openStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.clients[client], p); i >= 0 {
		s.removeLocked(client, i)
	}
}

func (s *streams) removeLocked(client string, i int) {
	s.open--
	if s.clients[client] = slices.Delete(s.clients[client], i, i+1); len(s.clients[client]) == 0 {
		delete(s.clients, client)
	}
}

// OpenStream takes one of the places of Config.MaxSubscriptions for a stream of a client, as [ClientOf] names it. end is
// called when the stream of another client has got the place; the stream should then end soon. end must not block. The
// caller calls leave, which is idempotent.
func (c *Core) OpenStream(ctx context.Context, client string, end func()) (leave func(), failure *Error) {
	p := c.streams.take(client, end)
	if p == nil {
		return nil, c.fail(ctx, &request{method: ListenMethod, modern: true}, errTooManyStreams)
	}
	return func() { c.streams.leave(client, p) }, nil
}

// openStream is OpenStream for a stream that counts for the account of its client.
func (c *Core) openStream(ctx context.Context, client string, end func()) (leave func(), failure *Error) {
	closeAccount, failure := OpenAccount(ctx, admission.Stream)
	if failure != nil {
		return nil, failure
	}
	leavePlace, failure := c.OpenStream(ctx, client, end)
	if failure != nil {
		closeAccount()
		return nil, failure
	}
	return func() { leavePlace(); closeAccount() }, nil
}

// OpenAccount counts a stream or session by the account of the client of ctx, which may have none. The caller calls close,
// which is idempotent.
func OpenAccount(ctx context.Context, k admission.Kind) (closeAccount func(), failure *Error) {
	account := auth.AccountOf(ctx)
	if account == nil {
		return func() {}, nil
	}
	if refused, ok := account.Open(k); !ok {
		return nil, LimitError(refused)
	}
	return sync.OnceFunc(func() { account.Close(k) }), nil
}

var errTooManyStreams error = abi.Errorf(abi.CodeBusy, "Too many streams of changes are open, try again later")
