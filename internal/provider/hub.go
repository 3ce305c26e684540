package provider

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
)

// A hub brings changes to those who watch for them. It never waits for a watcher: changes that come while one is busy
// are merged.
type hub struct {
	// fixed at creation
	caller caller
	log    *slog.Logger
	turns  chan struct{} // one for each call nobody waits for; fewer than may run, so that there is room for others
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	// mu guards the fields below
	mu       sync.Mutex
	closed   bool
	watchers map[*watcher]struct{}
	polls    map[string]*poll
	polled   int // those of polls that ask the guest
}

// A watcher wants to know of some URIs, and perhaps of the list.
type watcher struct {
	uris map[string]string // as asked for, by normal form
	list bool
	wake chan struct{} // holds one token while something is pending

	// mu guards the fields below
	mu      sync.Mutex
	pending map[string]bool // "" is the list
}

func newHub(caller caller, log *slog.Logger, turns int) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	return &hub{
		caller: caller, log: log, turns: make(chan struct{}, turns), ctx: ctx, cancel: cancel,
		watchers: map[*watcher]struct{}{}, polls: map[string]*poll{},
	}
}

// Watch calls notify, from one goroutine, for each of uris that changes and, with the empty string, when the list
// does, until ctx ends or the provider is closed. It answers those of uris that can be watched.
func (p *Provider) Watch(ctx context.Context, uris []string, listChanged bool, notify func(uri string)) ([]string, error) {
	h := p.watch
	w := &watcher{uris: map[string]string{}, list: listChanged, wake: make(chan struct{}, 1), pending: map[string]bool{}}
	var asked, wanted []string // each once, as asked for and in normal form
	for _, uri := range uris {
		normal := abi.NormalURI(uri)
		if _, twice := w.uris[normal]; !twice {
			w.uris[normal] = uri
			asked, wanted = append(asked, uri), append(wanted, normal)
		}
	}
	got, err := h.acquireAll(ctx, wanted)
	var watched, held []string // of asked, and of wanted
	for i, ok := range got {
		if ok {
			watched, held = append(watched, asked[i]), append(held, wanted[i])
		} else {
			delete(w.uris, wanted[i])
		}
	}
	if err != nil {
		h.abandon(held)
		return nil, err
	}
	started := h.start(w, func() {
		h.deliver(ctx, w, notify)
		h.remove(w)
		h.release(held)
	})
	if !started {
		h.abandon(held)
		return nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	}
	return watched, nil
}

// acquireAll acquires each of uris that can be watched, several at a time, and says which, even beside an error.
func (h *hub) acquireAll(ctx context.Context, uris []string) (acquired []bool, err error) {
	acquiring, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	acquired = make([]bool, len(uris))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(cap(h.turns), len(uris)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(uris)) && acquiring.Err() == nil; i = next.Add(1) - 1 {
				err := h.acquire(acquiring, uris[i])
				acquired[i] = err == nil
				if err != nil && !isRefusal(err) {
					stop(err)
				}
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return acquired, ctx.Err()
	}
	return acquired, context.Cause(acquiring)
}

// isRefusal reports whether err says that one URI cannot be watched, and nothing of the others.
func isRefusal(err error) bool {
	code := abi.CodeOf(err)
	return code == abi.CodeNotFound || code == abi.CodeInvalidParams || code == abi.CodeDenied
}

// abandon releases uris without waiting for the guest.
func (h *hub) abandon(uris []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed { // else there is nobody to tell
		h.done.Go(func() { h.release(uris) })
	}
}

// publish tells all who watch uri; "" is the list.
func (h *hub) publish(_ context.Context, uri string) {
	normal := abi.NormalURI(uri)
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		if asked, ok := w.uris[normal]; ok || (uri == "" && w.list) {
			w.add(asked)
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
