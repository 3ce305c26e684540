package streamable

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/wasmres/wasmres/runtime/internal/mcp/streamable/download"
)

// A Drain empties the connections of a server whose clients find another one at the same address. Once it has begun, each
// answer is the last one on its connection, and says so: a client loses no request on a connection that it believes to be
// open. Make it with [NewDrain].
type Drain struct {
	begun atomic.Bool
	ctx   context.Context // ends when the drain begins
	begin context.CancelFunc

	mu       sync.Mutex    // guards the fields below
	listener net.Listener  // nil before Stop
	open     int           // connections
	empty    chan struct{} // closed when no connection is open; nil while nothing waits for that
}

// NewDrain makes a Drain that has not begun.
func NewDrain() *Drain {
	d := &Drain{}
	d.ctx, d.begin = context.WithCancel(context.Background())
	return d
}

// Stop has Begin close l, so that its server accepts no more connections. A drain that has begun closes l at once.
func (d *Drain) Stop(l net.Listener) {
	d.mu.Lock()
	d.listener = l
	d.mu.Unlock()
	if d.HasBegun() {
		_ = l.Close()
	}
}

// Begin begins the drain: it closes the listener, and ends the streams of sessions. It does not block, and is idempotent.
func (d *Drain) Begin() {
	d.begun.Store(true)
	d.begin()
	d.mu.Lock()
	l := d.listener
	d.mu.Unlock()
	if l != nil {
		_ = l.Close() // its server returns
	}
}

// Opened counts a connection of the server. The server calls Closed once for each.
func (d *Drain) Opened() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
}

// Closed says that a connection is closed, or has become one of a subscription.
func (d *Drain) Closed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open--; d.open == 0 && d.empty != nil {
		close(d.empty)
		d.empty = nil
	}
}

// Wait waits until no connection is open but those of subscriptions, or ctx ends.
func (d *Drain) Wait(ctx context.Context) {
	d.mu.Lock()
	if d.open == 0 {
		d.mu.Unlock()
		return
	}
	if d.empty == nil {
		d.empty = make(chan struct{})
	}
	empty := d.empty
	d.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

// HasBegun reports whether the drain has begun.
func (d *Drain) HasBegun() bool { return d.begun.Load() }

// Handler returns a handler that answers as h does, as the drain demands.
func (d *Drain) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.HasBegun() {
			w.Header().Set("Connection", "close") // over HTTP/2, net/http sends GOAWAY instead
		}
		if r.Method == http.MethodGet && r.Header.Get(sessionHeader) != "" && !download.IsRequest(r) { // the stream of a session lasts for hours
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(d.ctx, cancel)()
			r = r.WithContext(ctx)
		}
		h.ServeHTTP(w, r)
	})
}

// CloseUntil closes what a server passes requests to, and waits for that until ctx ends. c may wait for requests that are cut off
// then.
func CloseUntil(ctx context.Context, c io.Closer) error {
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
