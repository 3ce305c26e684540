package httpcap

import (
	"context"
	"io"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

const (
	maxPart = 256 << 10 // bytes of a body in one answer to the guest
	maxOpen = 8         // streams of one call of a guest
)

// A stream is the body of an answer while it is read.
type stream struct {
	exchange *exchange
	reader   io.Reader // the body, bounded and redacted

	mu    sync.Mutex
	body  io.Closer // guarded by mu
	ended bool      // guarded by mu
}

// respond returns the beginning of a response to the guest. A longer body becomes a stream of the call; for a shorter
// one the exchange ends here.
func (h *HTTP) respond(ctx context.Context, s *stream, at *step, a *answer, limit int64) (capability.Response, error) {
	var err error
	if a.length > limit {
		err = tooLarge(limit)
	}
	s.body, s.reader = a.body, h.redactor.reader(&limited{src: a.body, limit: limit, left: limit})
	var part []byte
	more := false
	if err == nil {
		part, more, err = s.next(a.length)
	}
	resp := abi.HTTPResponse{
		Status: uint32(a.status), Header: h.redactor.fields(a.header), URL: h.redactor.text(at.target.text),
	}
	if err == nil && more {
		resp.Stream, err = h.streams.open(ctx, s)
	}
	if err != nil || !more {
		s.end()
	}
	if err != nil {
		return capability.Response{}, err
	}
	const guess = 512 // bytes
	return capability.Response{Message: resp.Append(make([]byte, 0, guess)), Body: part}, nil
}

// continued returns the next part of a stream to the guest.
func (h *HTTP) continued(ctx context.Context, request []byte, use *capability.Use) (capability.Response, error) {
	if err := h.checkOpen(ctx); err != nil {
		return capability.Response{}, err
	}
	var req abi.StreamRequest
	if err := req.Decode(request); err != nil {
		return capability.Response{}, err
	}
	s := h.streams.find(ctx, req.Stream)
	if s == nil {
		return capability.Response{}, abi.Errorf(abi.CodeNotFound, "this call has no stream %d", req.Stream)
	}
	use.Subject, use.Rule = s.exchange.subject, s.exchange.rule
	part, more, err := s.next(-1)
	if err != nil || !more {
		h.streams.drop(ctx, req.Stream)
		s.end()
	}
	if err != nil {
		return capability.Response{}, err
	}
	use.Bytes = uint64(len(part))
	return capability.Response{Message: (&abi.StreamResponse{More: more}).Append(nil), Body: part}, nil
}

// next reads the next part, and reports whether there may be more. size is how many bytes remain; it is negative
// if that is unknown.
func (s *stream) next(size int64) (part []byte, more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, false, abi.Errorf(abi.CodeUnavailable, "the stream has ended")
	}
	const guess = 4 << 10
	if size < 0 {
		size = guess
	}
	part = make([]byte, 0, min(size+1, maxPart)) // one byte more, to find the end of the body
	for len(part) < maxPart {
		if len(part) == cap(part) {
			part = append(make([]byte, 0, min(4*cap(part), maxPart)), part...)
		}
		n, err := s.reader.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
		if err == io.EOF {
			return part, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return part, true, nil
}

// end stops readers, closes the body and ends the exchange. Further calls do nothing.
func (s *stream) end() {
	s.exchange.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		_ = s.body.Close()
		s.exchange.release()
	}
}

// limited is a body that fails beyond its limit.
type limited struct {
	src         io.Reader
	limit, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		p = p[:l.left+1] // one byte more, to find that the body exceeds the limit
	}
	n, err := l.src.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.limit)
	}
	return n, err
}

func tooLarge(limit int64) error {
	return abi.Errorf(abi.CodeTooLarge, "the body has more than %d bytes", limit)
}

// streams has the open streams of each call: a call cannot use the stream numbers of another. The context identifies
// the call, since it is the same for all services.
type streams struct {
	mu    sync.Mutex
	calls map[context.Context]*callStreams // guarded by mu
}

type callStreams struct {
	last uint64 // the number of the newest
	open map[uint64]*stream
	stop func() bool // stops waiting for the end of the call
}

// open numbers a stream, which ends with ctx.
func (ss *streams) open(ctx context.Context, s *stream) (uint64, error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	c := ss.calls[ctx]
	if c == nil {
		c = &callStreams{open: map[uint64]*stream{}, stop: context.AfterFunc(ctx, func() { ss.forget(ctx) })}
		if ss.calls == nil {
			ss.calls = map[context.Context]*callStreams{}
		}
		ss.calls[ctx] = c
	}
	if len(c.open) == maxOpen {
		return 0, abi.Errorf(abi.CodeUnavailable, "%d responses are open: read one to its end first", maxOpen)
	}
	c.last++
	c.open[c.last] = s
	return c.last, nil
}

// find returns an open stream of a call, or nil.
func (ss *streams) find(ctx context.Context, id uint64) *stream {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if c := ss.calls[ctx]; c != nil {
		return c.open[id]
	}
	return nil
}

// drop removes a stream that has ended.
func (ss *streams) drop(ctx context.Context, id uint64) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if c := ss.calls[ctx]; c != nil {
		delete(c.open, id)
	}
}

// forget ends the streams of a call.
func (ss *streams) forget(ctx context.Context) {
	ss.mu.Lock()
	c := ss.calls[ctx]
	delete(ss.calls, ctx)
	ss.mu.Unlock()
	if c != nil {
		c.stop()
		for _, s := range c.open {
			s.end()
		}
	}
}

// close ends all streams.
func (ss *streams) close() {
	ss.mu.Lock()
	var all []context.Context
	for ctx := range ss.calls {
		all = append(all, ctx)
	}
	ss.mu.Unlock()
	for _, ctx := range all {
		ss.forget(ctx)
	}
}
