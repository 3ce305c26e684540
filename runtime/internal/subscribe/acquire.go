package subscribe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A leaving URI has no subscriber, and the guest has not received OpUnsubscribe yet.
type leaving struct {
	every time.Duration // as [subscription] has it
	held  bool          // the guest answered OpSubscribe without an error; otherwise the host does not know whether it ran
}

// acquireAll acquires each of uris that can be subscribed to, several at a time. acquired says
// which it has acquired; it holds with an error, too.
func (b *Broker) acquireAll(ctx context.Context, uris []abi.URI) (acquired []bool, err error) {
	acquiring, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	acquired = make([]bool, len(uris))
	b.forEach(acquiring, len(uris), func(i int) {
		err := b.acquire(acquiring, uris[i].Normal())
		acquired[i] = err == nil
		if err != nil && !isRefusal(err) {
			stop(err)
		}
	})
	if ctx.Err() != nil {
		return acquired, ctx.Err()
	}
	return acquired, context.Cause(acquiring)
}

// isRefusal reports whether err is about one URI only: that it cannot be subscribed to.
func isRefusal(err error) bool {
	code := abi.CodeOf(err)
	return code == abi.CodeNotFound || code == abi.CodeInvalidParams || code == abi.CodeDenied
}

// forEach calls do with 0 to n-1 until ctx ends, as many at once as there may be background calls.
func (b *Broker) forEach(ctx context.Context, n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(cap(b.slots), n) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	workers.Wait()
}

// acquire adds a subscriber to uri. For the first one it calls OpSubscribe, and polls the guest if the guest asks for
// that. The guest gets the calls about one URI one after the other: OpSubscribe waits for OpUnsubscribe to end. A
// subscriber that comes before OpUnsubscribe has begun takes the subscription over, and the guest is not called.
func (b *Broker) acquire(ctx context.Context, uri string) error {
	for {
		joined, running, err := b.join(uri)
		if joined || err != nil {
			return err
		}
		if running == nil {
			every, err := b.callSubscribe(ctx, uri)
			return b.subscribed(uri, every, err)
		}
		select {
		case <-running:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join adds a subscriber to uri without a call of the guest, where that is possible. Otherwise it returns the channel to
// wait for, or nil when the caller is to call OpSubscribe and then [Broker.subscribed].
func (b *Broker) join(uri string) (joined bool, running <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sub := b.subscriptions[uri]; sub != nil {
		sub.refs++
		return true, nil, nil
	}
	if running, ok := b.calling[uri]; ok {
		return false, running, nil
	}
	if l := b.leaving[uri]; l.held {
		if err := b.beginLocked(uri, l.every); err != nil {
			return false, nil, err
		}
		delete(b.leaving, uri)
		return true, nil, nil
	}
	delete(b.leaving, uri)
	b.calling[uri] = make(chan struct{})
	return false, nil, nil
}

// callSubscribe calls OpSubscribe. It returns how often the guest wants to be polled; zero for never.
func (b *Broker) callSubscribe(ctx context.Context, uri string) (time.Duration, error) {
	if !b.cfg.Implements(abi.OpSubscribe) {
		return 0, nil
	}
	reply, err := b.cfg.Call(ctx, abi.OpSubscribe, uri, "", nil)
	if err != nil {
		return 0, err
	}
	if reply.PollMillis == 0 || !b.cfg.Implements(abi.OpPoll) {
		return 0, nil
	}
	return min(max(time.Duration(reply.PollMillis)*time.Millisecond, minPoll), maxPoll), nil
}

// subscribed adds the first subscriber to uri, after callSubscribe. If it cannot, and the guest may have stored the
// subscription, it calls OpUnsubscribe.
func (b *Broker) subscribed(uri string, every time.Duration, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calledLocked(uri)
	held := err == nil
	if held {
		err = b.beginLocked(uri, every)
	}
	if err != nil && (held || mayHold(err)) && b.cfg.Implements(abi.OpUnsubscribe) {
		b.leaving[uri] = leaving{every: every, held: held}
		b.spawnLocked(func() { b.unsubscribe(uri) })
	}
	return err
}

// mayHold reports whether the guest may have stored a subscription although OpSubscribe failed with err. It has not if
// it answered that there is nothing to subscribe to, or was not called.
func mayHold(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied, abi.CodeUnsupported, abi.CodeUnavailable, abi.CodeBusy:
		return false
	}
	return true
}

// releaseAll releases uris without waiting for the guest.
func (b *Broker) releaseAll(uris []string) { b.spawn(func() { b.release(uris) }) }

// release removes a subscriber from each of uris. With the last one it calls OpUnsubscribe.
func (b *Broker) release(uris []string) {
	for _, uri := range uris {
		if b.drop(uri) {
			b.unsubscribe(uri)
		}
	}
}

// drop removes a subscriber from uri, and reports whether the caller must call [Broker.unsubscribe].
func (b *Broker) drop(uri string) (isLast bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sub := b.subscriptions[uri]
	if sub.refs--; sub.refs > 0 {
		return false
	}
	b.endLocked(sub)
	if !b.cfg.Implements(abi.OpUnsubscribe) {
		return false
	}
	b.leaving[uri] = leaving{every: sub.every, held: true}
	return true
}

// unsubscribe calls OpUnsubscribe when a slot for background calls is free, unless uri has a subscriber by then.
func (b *Broker) unsubscribe(uri string) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-b.ctx.Done():
		return
	}
	if !b.leave(uri) {
		return
	}
	if _, err := b.cfg.Call(b.ctx, abi.OpUnsubscribe, uri, "", nil); err != nil {
		b.cfg.Logger.Debug("unsubscribe refused", "code", abi.CodeOf(err).String())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calledLocked(uri)
}

// leave reports whether OpUnsubscribe of uri is still due. Then the caller must call [Broker.calledLocked] after the
// call.
func (b *Broker) leave(uri string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, due := b.leaving[uri]; !due {
		return false
	}
	delete(b.leaving, uri)
	b.calling[uri] = make(chan struct{})
	return true
}

// calledLocked notes that the call of the guest about uri has ended.
func (b *Broker) calledLocked(uri string) {
	close(b.calling[uri])
	delete(b.calling, uri)
}
