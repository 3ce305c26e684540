package provider

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A hub knows who watches what, and reports changes to them.
type hub struct {
	// fixed at creation
	caller caller
	log    *slog.Logger
	turns  chan struct{} // one for each call nobody waits for; fewer than may run, so that there is room for others
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	// changes are URIs that are watched, in normal form, and "" for the list; a goroutine reports them while there are any.
	changes *coalesce.Set

	feeds       feeds
	listVersion atomic.Uint64 // how often the list has changed

	// mu guards the fields below, and those of polls and watchers
	mu       sync.Mutex
	closed   bool
	watchers map[*watcher]struct{}
	list     poll // of which only the watchers count
	polls    map[string]*poll
	calling  map[string]chan struct{} // URIs for which OpSubscribe or OpUnsubscribe runs; closed when the guest has answered
	leaving  map[string]leaving       // URIs for which OpUnsubscribe is due and has not begun
	polled   int                      // those of polls that ask the guest again
	fresh    map[string]struct{}      // those of polls that are to be looked at for the first time
	looking  bool                     // a goroutine looks at what is fresh
}

func newHub(caller caller, log *slog.Logger, turns int, open []func(context.Context) (Feed, error)) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hub{
		caller: caller, log: log, turns: make(chan struct{}, turns), ctx: ctx, cancel: cancel,
		watchers: map[*watcher]struct{}{}, polls: map[string]*poll{}, calling: map[string]chan struct{}{}, leaving: map[string]leaving{}, fresh: map[string]struct{}{},
		feeds: feeds{open: open, opened: make(chan struct{})},
	}
	h.changes = coalesce.New(func() { h.spawn(h.report) })
	return h
}

// spawn runs what close waits for, unless the hub is closing.
func (h *hub) spawn(run func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.done.Go(run)
	}
}

// Subscribe implements [resource.Source]. Close ends all subscriptions.
func (p *Provider) Subscribe(
	ctx context.Context, uris []string, list bool, n resource.Notifier,
) (accepted []string, err error) {
	h := p.watch
	h.follow(ctx)
	var asked, wanted []string // each once, as asked for and in normal form
	seen := make(map[string]bool)
	for _, uri := range uris {
		if normal := abi.NormalURI(uri); !seen[normal] {
			seen[normal] = true
			asked, wanted = append(asked, uri), append(wanted, normal)
		}
	}
	got, err := h.acquireAll(ctx, wanted)
	var held []string // of wanted, as accepted is of asked
	for i, ok := range got {
		if ok {
			accepted, held = append(accepted, asked[i]), append(held, wanted[i])
		}
	}
	if err != nil {
		h.abandon(held)
		return nil, err
	}
	if !h.start(&watcher{ctx: ctx, notifier: n, held: held, list: list}, accepted) {
		h.abandon(held)
		return nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	}
	return accepted, nil
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
func (h *hub) abandon(uris []string) { h.spawn(func() { h.release(uris) }) }

// start lets w in, which holds as many URIs as were asked for, until its context ends. It does not when the hub is
// closing.
func (h *hub) start(w *watcher, asked []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.watchers[w] = struct{}{}
	for i, uri := range w.held {
		p := h.polls[uri]
		w.held[i] = p.uri
		p.add(w, asked[i])
	}
	if w.list {
		h.list.add(w, "")
	}
	w.leave = context.AfterFunc(w.ctx, func() { h.end(w) })
	return true
}

// end lets go of w, and of what it held.
func (h *hub) end(w *watcher) {
	if h.remove(w) {
		defer h.done.Done()
		h.release(w.held)
	}
}

// remove forgets w, unless the hub is closing. It counts what the caller does then as something to wait for.
func (h *hub) remove(w *watcher) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	delete(h.watchers, w)
	delete(h.list.watchers, w)
	for _, uri := range w.held {
		delete(h.polls[uri].watchers, w)
	}
	h.done.Add(1)
	return true
}

// close ends all watches and waits for what they started. It is idempotent.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	for w := range h.watchers {
		w.leave()
	}
	clear(h.watchers)
	h.mu.Unlock()
	h.changes.Close()
	h.cancel()
	h.done.Wait()
}
