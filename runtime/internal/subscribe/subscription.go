package subscribe

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

const (
	minPoll = 100 * time.Millisecond
	maxPoll = time.Hour

	maxCompared = 4096 // subscriptions that are polled or compared
)

// A subscription is one URI with its subscribers. Its fields are guarded by the Broker's mu, those of lastSeen aside.
type subscription struct {
	uri         string // in normal form; fixed at creation
	refs        int    // subscribers, those included that still acquire other URIs
	every       time.Duration
	stopPolling context.CancelFunc     // nil when the guest is not polled, since it reports changes by itself
	subscribers map[*subscriber]string // with the URI as they spelled it
	isCompared  bool                   // when a feed reports a change; fixed at creation

	seen lastSeen
}

func (sub *subscription) add(s *subscriber, asked string) {
	if sub.subscribers == nil {
		sub.subscribers = make(map[*subscriber]string)
	}
	sub.subscribers[s] = asked
}

// find returns the subscription to a URI; nil when there is none.
func (b *Broker) find(uri string) *subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.subscriptions[uri]
}

// beginLocked makes the subscription to uri, with one subscriber.
func (b *Broker) beginLocked(uri string, every time.Duration) error {
	sub := &subscription{uri: uri, refs: 1, every: every, seen: newLastSeen(every > 0)}
	if every > 0 && !b.closed {
		if b.compared == maxCompared {
			return abi.Errorf(abi.CodeBusy, "%d resources are polled already", maxCompared)
		}
		b.compared++
		ctx, cancel := context.WithCancel(b.ctx)
		sub.stopPolling = cancel
		b.work.Go(func() { b.pollLoop(ctx, uri, every) })
	}
	b.subscriptions[uri] = sub
	if every == 0 && len(b.cfg.Feeds) > 0 && b.compared < maxCompared {
		b.compared++
		sub.isCompared = true
		b.unchecked.Add(uri)
	}
	return nil
}

// endLocked removes a subscription, which has no subscribers.
func (b *Broker) endLocked(sub *subscription) {
	delete(b.subscriptions, sub.uri)
	b.unchecked.Remove(sub.uri)
	if sub.stopPolling != nil {
		sub.stopPolling()
	}
	if sub.stopPolling != nil || sub.isCompared {
		b.compared--
	}
}

// isAccepted reports whether sub has subscribers that may have been told so.
func (b *Broker) isAccepted(sub *subscription) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(sub.subscribers) > 0
}

// maxFirstCheck is how long a subscriber waits for the first checks of its resources.
const maxFirstCheck = time.Second

// awaitFirstChecks waits until those of uris that are compared or polled have been checked, so that any later change can
// be told from none. Where that takes longer than maxFirstCheck, or until ctx ends, a feed that reports a change of
// anything counts as a change of the resource.
func (b *Broker) awaitFirstChecks(ctx context.Context, uris []string) {
	ctx, cancel := context.WithTimeout(ctx, maxFirstCheck)
	defer cancel()
	for _, uri := range uris {
		sub := b.find(uri)
		if sub == nil || !sub.isCompared && sub.stopPolling == nil {
			continue
		}
		select {
		case <-sub.seen.checked:
		case <-ctx.Done():
			return
		case <-b.ctx.Done():
			return
		}
	}
}

// pollLoop checks uri at intervals until ctx ends.
func (b *Broker) pollLoop(ctx context.Context, uri string, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for b.check(ctx, uri, time.Time{}) == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// callBackground calls the guest when a slot for background calls is free.
func (b *Broker) callBackground(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return b.cfg.Call(ctx, op, uri, etag, sink)
}
