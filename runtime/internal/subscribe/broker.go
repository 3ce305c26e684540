package subscribe

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/coalesce"
	"github.com/wasmres/wasmres/runtime/resource"
)

// Config has the functions by which a Broker calls the guest. All are required, and called from many goroutines at
// once.
type Config struct {
	// Call calls OpSubscribe, OpUnsubscribe, OpPoll or OpRead for one URI. etag is that of the contents seen last.
	Call func(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error)
	// Implements reports whether the guest implements op.
	Implements func(op abi.Op) bool
	// OnChange is called before a change of uri, in normal form, is reported. It is empty for a change of the list, or of
	// anything.
	OnChange func(uri string)

	MaxCalls int // background calls at once, at least 1; fewer than may run, so that clients need not wait for them
	Feeds    []func(context.Context) (capability.Feed, error)
	Logger   *slog.Logger
}

// A Broker has the subscribers of each URI, and reports changes to them. It is safe for concurrent use. The caller
// closes it.
type Broker struct {
	// fixed at creation
	cfg    Config
	slots  chan struct{} // holds a token for each background call
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	// changes are changed URIs with subscribers, in normal form, and "" for the list. A goroutine reports them while
	// there are any.
	changes *coalesce.Set
	// unchecked are URIs of subscriptions that are to be compared and never were; a goroutine checks them while there are
	// any. Add is called with mu held.
	unchecked *coalesce.Set

	feeds       feeds
	listVersion atomic.Uint64 // how often the list has changed

	mu            sync.Mutex // guards the fields below, and those of subscriptions and subscribers
	closed        bool
	subscribers   map[*subscriber]struct{}
	ofList        map[*subscriber]struct{} // those of the list
	subscriptions map[string]*subscription // by URI in normal form
	calling       map[string]chan struct{} // URIs for which OpSubscribe or OpUnsubscribe runs; closed when it has ended
	leaving       map[string]leaving       // URIs for which OpUnsubscribe is due and has not begun
	compared      int                      // subscriptions that are polled or compared
}

// A subscriber is one Notifier, and what it has subscribed to.
type subscriber struct {
	// fixed at creation
	ctx      context.Context
	notifier resource.Notifier
	held     []string // URIs in normal form
	list     bool

	ignoreEnd func() bool // stops waiting for the end of ctx; guarded by the Broker's mu
}

// New makes a Broker, which opens no feed and calls nothing until the first Subscribe.
func New(cfg Config) *Broker {
	ctx, cancel := context.WithCancel(context.Background())
	b := &Broker{
		cfg: cfg, slots: make(chan struct{}, cfg.MaxCalls), ctx: ctx, cancel: cancel,
		feeds:         feeds{opened: make(chan struct{})},
		subscribers:   map[*subscriber]struct{}{},
		ofList:        map[*subscriber]struct{}{},
		subscriptions: map[string]*subscription{},
		calling:       map[string]chan struct{}{},
		leaving:       map[string]leaving{},
	}
	b.changes = coalesce.New(func() { b.spawn(b.report) })
	b.unchecked = coalesce.New(func() { b.spawnLocked(b.checkUnchecked) })
	return b
}

// spawn runs a function for which Close waits, unless the Broker is closed.
func (b *Broker) spawn(run func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spawnLocked(run)
}

func (b *Broker) spawnLocked(run func()) {
	if !b.closed {
		b.work.Go(run)
	}
}

// ListVersion returns another number whenever the list may have changed.
func (b *Broker) ListVersion() uint64 { return b.listVersion.Load() }

// Subscribe implements [resource.Source]. Of URIs with the same normal form it accepts the first.
func (b *Broker) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	b.openFeeds(ctx)
	uris = once(uris)
	acquired, err := b.acquireAll(ctx, uris)
	var held []string // in normal form, as accepted
	for i, ok := range acquired {
		if ok {
			accepted, held = append(accepted, uris[i]), append(held, uris[i].Normal())
		}
	}
	if err != nil {
		b.releaseAll(held)
		return nil, err
	}
	b.awaitFirstChecks(ctx, held)
	if !b.register(&subscriber{ctx: ctx, notifier: n, held: held, list: list}, accepted) {
		b.releaseAll(held)
		return nil, abi.Errorf(abi.CodeUnavailable, "the provider is closing")
	}
	return accepted, nil
}

// once returns the first of those of uris with the same normal form, without zero URIs.
func once(uris []abi.URI) (list []abi.URI) {
	seen := make(map[string]bool)
	for _, uri := range uris {
		if !uri.IsZero() && !seen[uri.Normal()] {
			seen[uri.Normal()] = true
			list = append(list, uri)
		}
	}
	return list
}

// register starts reporting changes to s until its context ends; accepted are its URIs. It returns false when the
// Broker is closed.
func (b *Broker) register(s *subscriber, accepted []abi.URI) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.subscribers[s] = struct{}{}
	for i, uri := range s.held {
		sub := b.subscriptions[uri]
		s.held[i] = sub.uri // the one string that all share
		sub.add(s, accepted[i].String())
	}
	if s.list {
		b.ofList[s] = struct{}{}
	}
	s.ignoreEnd = context.AfterFunc(s.ctx, func() { b.end(s) })
	return true
}

// end unregisters s, and releases what it held.
func (b *Broker) end(s *subscriber) {
	if b.unregister(s) {
		defer b.work.Done()
		b.release(s.held)
	}
}

// unregister stops reporting to s. It returns true, and Close waits for the caller, unless the Broker is closed.
func (b *Broker) unregister(s *subscriber) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	delete(b.subscribers, s)
	delete(b.ofList, s)
	for _, uri := range s.held {
		delete(b.subscriptions[uri].subscribers, s)
	}
	b.work.Add(1)
	return true
}

// Close ends all subscriptions, and waits for what they started. It is idempotent.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	for s := range b.subscribers {
		s.ignoreEnd()
	}
	clear(b.subscribers)
	b.mu.Unlock()
	b.changes.Close()
	b.unchecked.Close()
	b.cancel()
	b.work.Wait()
}
