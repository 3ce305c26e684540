package provider

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	maxResult      = 1 << 20  // bytes of one result that is kept
	maxResults     = 32 << 20 // of all that a provider has, with what keeping them takes
	resultOverhead = 512      // bytes that keeping one takes, about
	longestTTL     = time.Hour
)

// results keeps what reads have answered for as long as the guest says that it stays good for everybody. Who asks for
// something that is being read waits for that, where it promises to be kept. It is safe for concurrent use.
type results struct {
	used atomic.Bool // there is something, or has been

	mu      sync.Mutex               // guards the fields below, and those of flights
	kept    map[string]*list.Element // of *result, by URI in normal form
	order   list.List                // the one used last in front
	bytes   int                      // of what is kept, all told
	flights map[string]*flight
}

// A result is what one read answered. It is not changed.
type result struct {
	uri      string
	contents []recorded // nil when only the promise is left
	scope    abi.CacheScope
	until    time.Time
}

// A recorded is one content. Its head has no bytes.
type recorded struct {
	head abi.Content
	body []byte
}

// A flight is a read others wait for.
type flight struct {
	landed chan struct{} // closed when there is a result, or will be none
	stale  bool          // what it reads has changed meanwhile
}

// lasting reports whether a reply may be given to others.
func lasting(reply *abi.Reply) bool {
	return reply.TTLMillis > 0 && reply.CacheScope == abi.CachePublic
}

// inUse reports whether anything that was read was lasting.
func (r *results) inUse() bool { return r.used.Load() }

// A reader has the guest read what was asked for.
type reader func(sink abi.Sink) (*abi.Reply, error)

// read answers from what is kept of uri, or by reader, whose result it keeps if it is lasting.
func (r *results) read(ctx context.Context, uri string, promising bool, sink abi.Sink, reader reader) (*abi.Reply, error) {
	found, f, leads := r.find(uri, promising)
	for f != nil && !leads {
		select {
		case <-f.landed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		found, f, leads = r.find(uri, false)
	}
	switch {
	case found != nil:
		return found.replay(sink)
	case leads:
		return r.lead(uri, f, sink, reader)
	}
	reply, err := reader(sink)
	if err == nil && lasting(reply) {
		r.promise(uri)
	}
	return reply, err
}

// lead reads for all who are in the flight.
func (r *results) lead(uri string, f *flight, sink abi.Sink, reader reader) (*abi.Reply, error) {
	giveUp := func() { r.land(uri, f, nil) }
	defer giveUp() // also when the guest's host panics
	rec := &recorder{Sink: sink, land: giveUp}
	reply, err := reader(rec)
	r.land(uri, f, rec.result(uri, reply, err))
	return reply, err
}

// find gives what is kept of uri, or else a flight. It leads the flight who began it, which is done for what has been
// lasting before, or promises to be; the others wait.
func (r *results) find(uri string, promising bool) (found *result, f *flight, leads bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.kept[uri]; e != nil {
		kept := e.Value.(*result)
		if kept.contents != nil && time.Now().Before(kept.until) {
			r.order.MoveToFront(e)
			return kept, nil, false
		}
		promising = true
	}
	if f := r.flights[uri]; f != nil {
		return nil, f, false
	}
	if !promising {
		return nil, nil, false
	}
	if r.flights == nil {
		r.flights = make(map[string]*flight)
	}
	r.used.Store(true)
	f = &flight{landed: make(chan struct{})}
	r.flights[uri] = f
	return nil, f, true
}

// promise notes that what is read of uri is lasting.
func (r *results) promise(uri string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[uri] == nil {
		r.keepLocked(&result{uri: uri})
	}
}

// land ends a flight, with a result to keep or none. Whoever waited goes on.
func (r *results) land(uri string, f *flight, got *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flights[uri] != f {
		return
	}
	delete(r.flights, uri)
	close(f.landed)
	switch {
	case got == nil:
		r.dropLocked(uri)
	case !f.stale:
		r.keepLocked(got)
	}
}

// changed forgets what is kept of uri, or everything when that is empty.
func (r *results) changed(uri string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, f := range r.flights {
		f.stale = f.stale || uri == "" || at == uri
	}
	if uri != "" {
		r.dropLocked(uri)
		return
	}
	clear(r.kept)
	r.order.Init()
	r.bytes = 0
}

func (r *results) keepLocked(got *result) {
	r.used.Store(true)
	r.dropLocked(got.uri)
	if r.kept == nil {
		r.kept = make(map[string]*list.Element)
	}
	r.kept[got.uri] = r.order.PushFront(got)
	for r.bytes += got.size(); r.bytes > maxResults; {
		r.dropLocked(r.order.Back().Value.(*result).uri)
	}
}

func (r *results) dropLocked(uri string) {
	e := r.kept[uri]
	if e == nil {
		return
	}
	delete(r.kept, uri)
	r.bytes -= r.order.Remove(e).(*result).size()
}

// size is the bytes that keeping the result takes.
func (r *result) size() int {
	n := resultOverhead + len(r.uri)
	for i := range r.contents {
		n += r.contents[i].size()
	}
	return n
}

func (c *recorded) size() int {
	h := &c.head
	return resultOverhead + len(c.body) + len(h.URI) + len(h.MIMEType) + len(h.ETag) + len(h.LastModified) + len(h.Meta)
}

// replay hands the contents over again.
func (r *result) replay(sink abi.Sink) (*abi.Reply, error) {
	for i := range r.contents {
		head := r.contents[i].head
		if err := sink.Content(&head); err != nil {
			return nil, err
		}
		if err := sink.Body(r.contents[i].body); err != nil {
			return nil, err
		}
	}
	left := max(time.Until(r.until).Milliseconds(), 1)
	return &abi.Reply{TTLMillis: uint64(left), CacheScope: r.scope}, nil
}

// slowClient is how long a client may take for a part before nobody else waits for what it reads.
const slowClient = 20 * time.Millisecond

// A recorder is an [abi.Sink] that keeps what passes, up to a bound.
type recorder struct {
	abi.Sink
	land     func() // called when there is too much, or it takes too long; safe for concurrent use
	contents []recorded
	bytes    int
	given    bool // there is too much, or what is no whole
}

// Unwrap is for [runtime.Waiter].
func (r *recorder) Unwrap() abi.Sink { return r.Sink }

// Content implements [abi.Sink].
func (r *recorder) Content(c *abi.Content) error {
	head := *c
	head.Inline, head.Size = nil, 0
	r.contents = append(r.contents, recorded{head: head})
	r.count(r.contents[len(r.contents)-1].size())
	if c.NotModified || c.RangeTotal > 0 {
		r.giveUp()
	}
	defer r.hurry().Stop()
	return r.Sink.Content(c)
}

// Body implements [abi.Sink].
func (r *recorder) Body(p []byte) error {
	if r.count(len(p)); !r.given {
		last := &r.contents[len(r.contents)-1]
		last.body = append(last.body, p...)
	}
	defer r.hurry().Stop()
	return r.Sink.Body(p)
}

// hurry lets those who wait go on by themselves, unless it is stopped soon.
func (r *recorder) hurry() *time.Timer { return time.AfterFunc(slowClient, r.land) }

func (r *recorder) count(n int) {
	if r.bytes += n; r.bytes > maxResult {
		r.giveUp()
	}
}

func (r *recorder) giveUp() {
	if !r.given {
		r.given, r.contents = true, nil
		r.land()
	}
}

// result is what was recorded of a read that ended so; nil when it is not to be kept.
func (r *recorder) result(uri string, reply *abi.Reply, err error) *result {
	if err != nil || r.given || !lasting(reply) {
		return nil
	}
	ttl := min(time.Duration(min(reply.TTLMillis, uint64(longestTTL/time.Millisecond)))*time.Millisecond, longestTTL)
	for i := range r.contents {
		c := &r.contents[i]
		c.head.Size = uint64(len(c.body))
	}
	return &result{uri: uri, contents: r.contents, scope: reply.CacheScope, until: time.Now().Add(ttl)}
}
