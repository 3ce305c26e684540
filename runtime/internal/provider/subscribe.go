package provider

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// A leaving URI has no watcher, and the guest has not been told so yet.
type leaving struct {
	every time.Duration // as [poll] has it
	held  bool          // the guest answered OpSubscribe without an error; otherwise the host does not know whether it ran
}

// acquire adds a watcher to uri. For the first watcher it calls OpSubscribe, and polls the guest if the guest asks for
// that. The guest gets the calls about one URI one after the other: OpSubscribe waits for OpUnsubscribe to end. A watcher
// that comes before OpUnsubscribe has begun takes its place, and the guest is not called.
func (h *hub) acquire(ctx context.Context, uri string) error {
	if err := abi.CheckURI(uri); err != nil {
		return abi.Errorf(abi.CodeInvalidParams, "invalid URI: %v", err)
	}
	for {
		acquired, running, err := h.enter(uri)
		if acquired || err != nil {
			return err
		}
		if running == nil {
			every, err := h.subscribe(ctx, uri)
			return h.subscribed(uri, every, err)
		}
		select {
		case <-running:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// enter adds a watcher to uri without a call of the guest, where that is possible. Otherwise it returns the channel to
// wait for, or nil when the caller is to call OpSubscribe and then [hub.subscribed].
func (h *hub) enter(uri string) (acquired bool, running <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, ok := h.polls[uri]; ok {
		p.refs++
		return true, nil, nil
	}
	if running, ok := h.calling[uri]; ok {
		return false, running, nil
	}
	if l := h.leaving[uri]; l.held {
		if err := h.beginLocked(uri, l.every); err != nil {
			return false, nil, err
		}
		delete(h.leaving, uri)
		return true, nil, nil
	}
	delete(h.leaving, uri)
	h.calling[uri] = make(chan struct{})
	return false, nil, nil
}

// subscribe calls OpSubscribe. It returns how often the guest wants to be polled; zero for never.
func (h *hub) subscribe(ctx context.Context, uri string) (time.Duration, error) {
	if !h.caller.implements(abi.OpSubscribe) {
		return 0, nil
	}
	reply, err := h.caller.about(ctx, abi.OpSubscribe, uri, "", nil)
	if err != nil {
		return 0, err
	}
	if reply.PollMillis == 0 || !h.caller.implements(abi.OpPoll) {
		return 0, nil
	}
	return min(max(time.Duration(reply.PollMillis)*time.Millisecond, minPoll), maxPoll), nil
}

// subscribed adds the first watcher to uri, given what [hub.subscribe] returned. When it cannot, and the guest may
// have noted the subscription, the guest is told of the end of it.
func (h *hub) subscribed(uri string, every time.Duration, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calledLocked(uri)
	held := err == nil
	if held {
		err = h.beginLocked(uri, every)
	}
	if err != nil && (held || mayHold(err)) && !h.closed && h.caller.implements(abi.OpUnsubscribe) {
		h.leaving[uri] = leaving{every: every, held: held}
		h.done.Go(func() { h.unsubscribe(uri) })
	}
	return err
}

// mayHold reports whether the guest may have noted a subscription although OpSubscribe failed with err. It did not when
// it answered that there is nothing to subscribe to, and when it was not called.
func mayHold(err error) bool {
	switch abi.CodeOf(err) {
	case abi.CodeNotFound, abi.CodeInvalidParams, abi.CodeDenied, abi.CodeUnsupported, abi.CodeUnavailable, abi.CodeBusy:
		return false
	}
	return true
}

// beginLocked makes the poll of uri, with one watcher.
func (h *hub) beginLocked(uri string, every time.Duration) error {
	p := &poll{uri: uri, refs: 1, every: every, version: newVersioned(every > 0)}
	if every > 0 && !h.closed {
		if h.polled == maxPolled {
			return abi.Errorf(abi.CodeBusy, "%d resources are polled already", maxPolled)
		}
		h.polled++
		pollCtx, cancel := context.WithCancel(h.ctx)
		p.stop = cancel
		h.done.Go(func() { h.keepAsking(pollCtx, uri, every) })
	}
	h.polls[uri] = p
	if every == 0 && len(h.feeds.open) > 0 && h.polled < maxPolled {
		h.polled++
		p.looked = true
		h.fresh[uri] = struct{}{}
		h.lookLocked()
	}
	return nil
}

// release removes a watcher from each of uris. The last one ends the polling of a URI, and the guest is told.
func (h *hub) release(uris []string) {
	for _, uri := range uris {
		if h.drop(uri) {
			h.unsubscribe(uri)
		}
	}
}

// drop removes a watcher from uri, and reports whether it was the last and [hub.unsubscribe] is to follow.
func (h *hub) drop(uri string) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.polls[uri]
	if p.refs--; p.refs > 0 {
		return false
	}
	delete(h.polls, uri)
	delete(h.fresh, uri)
	if p.stop != nil {
		p.stop()
	}
	if p.stop != nil || p.looked {
		h.polled--
	}
	if !h.caller.implements(abi.OpUnsubscribe) {
		return false
	}
	h.leaving[uri] = leaving{every: p.every, held: true}
	return true
}

// unsubscribe calls OpUnsubscribe in its turn, unless uri has got a watcher by then.
func (h *hub) unsubscribe(uri string) {
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
	case <-h.ctx.Done():
		return
	}
	if !h.leave(uri) {
		return
	}
	if _, err := h.caller.about(h.ctx, abi.OpUnsubscribe, uri, "", nil); err != nil {
		h.log.Debug("unsubscribe refused", "code", abi.CodeOf(err).String())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calledLocked(uri)
}

// leave reports whether OpUnsubscribe of uri is still due. Then [hub.calledLocked] is to follow the call.
func (h *hub) leave(uri string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, due := h.leaving[uri]; !due {
		return false
	}
	delete(h.leaving, uri)
	h.calling[uri] = make(chan struct{})
	return true
}

// calledLocked notes that the call of the guest about uri has ended.
func (h *hub) calledLocked(uri string) {
	close(h.calling[uri])
	delete(h.calling, uri)
}
