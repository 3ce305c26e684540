package provider

import (
	"context"
	"log/slog"
	"sync"

	"github.com/wasmres/wasmres/abi"
)

// A hub brings changes to those who watch for them. It never waits for a watcher: changes that come while one is busy
// are merged.
type hub struct {
	// fixed at creation
	caller caller
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	// mu guards the fields below
	mu       sync.Mutex
	closed   bool
	watchers map[*watcher]struct{}
	polls    map[string]*poll
}

// A watcher wants to know of some URIs, and perhaps of the list.
type watcher struct {
	uris map[string]bool
	list bool
	wake chan struct{} // holds one token while something is pending

	// mu guards the fields below
	mu      sync.Mutex
	pending map[string]bool // "" is the list
}

func newHub(caller caller, log *slog.Logger) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	return &hub{
		caller: caller, log: log, ctx: ctx, cancel: cancel,
		watchers: map[*watcher]struct{}{}, polls: map[string]*poll{},
	}
}

// Watch calls notify, from one goroutine, for each of uris that changes and, with the empty string, when the list
// does, until ctx ends or the provider is closed. It answers those of uris that can be watched.
func (p *Provider) Watch(ctx context.Context, uris []string, listChanged bool, notify func(uri string)) ([]string, error) {
	h := p.watch
	var watched []string
	for _, uri := range uris {
		err := h.acquire(ctx, uri)
		switch abi.CodeOf(err) {
		case abi.CodeOK:
			watched = append(watched, uri)
		case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied:
		default:
			h.release(watched)
			return nil, err
		}
	}
	w := &watcher{uris: map[string]bool{}, list: listChanged, wake: make(chan struct{}, 1), pending: map[string]bool{}}
	for _, uri := range watched {
		w.uris[uri] = true
	}
	started := h.start(w, func() {
		h.deliver(ctx, w, notify)
		h.remove(w)
		h.release(watched)
	})
	if !started {
		h.release(watched)
		return nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	}
	return watched, nil
}

// publish tells all who watch uri; "" is the list.
func (h *hub) publish(uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		if w.uris[uri] || (uri == "" && w.list) {
			w.add(uri)
		}
	}
}

// start lets w in and runs its goroutine, unless the hub is closing.
func (h *hub) start(w *watcher, run func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.watchers[w] = struct{}{}
	h.done.Go(run)
	return true
}

func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// deliver hands pending changes to notify until ctx ends.
func (h *hub) deliver(ctx context.Context, w *watcher, notify func(string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.ctx.Done():
			return
		case <-w.wake:
		}
		for uri := range w.take() {
			if ctx.Err() != nil {
				return
			}
			notify(uri)
		}
	}
}

// add is called with the hub's lock held; it takes the watcher's.
func (w *watcher) add(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[uri] = true
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.pending
	w.pending = map[string]bool{}
	return taken
}

// close ends all watches and waits for what they started. It is idempotent.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.done.Wait()
}
