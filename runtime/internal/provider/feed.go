package provider

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Feed tells of changes in something that the guest reads.
type Feed = capability.Feed

// A FeedChange is what a [Feed] tells.
type FeedChange = capability.FeedChange

// feeds are followed from the time on when somebody first watches anything.
type feeds struct {
	open   []func(ctx context.Context) (Feed, error)
	begin  sync.Once
	opened chan struct{} // closed when all of them are, or cannot be
}

// follow begins to follow the feeds, and waits until they are open.
func (h *hub) follow(ctx context.Context) {
	h.feeds.begin.Do(h.startFollowing)
	select {
	case <-h.feeds.opened:
	case <-ctx.Done():
	case <-h.ctx.Done():
	}
}

func (h *hub) startFollowing() {
	var opening sync.WaitGroup
	opening.Add(len(h.feeds.open))
	for _, open := range h.feeds.open {
		h.spawn(func() { h.followOne(open, opening.Done) })
	}
	h.spawn(func() {
		opening.Wait()
		close(h.feeds.opened)
	})
}

func (h *hub) followOne(open func(context.Context) (Feed, error), opened func()) {
	feed, err := open(h.ctx)
	opened()
	if err != nil {
		if h.ctx.Err() == nil {
			h.log.Warn("changes of what the provider reads are not noticed", "cause", err)
		}
		return
	}
	defer feed.Close()
	var rest rest
	for {
		change, err := feed.Next(h.ctx)
		if h.ctx.Err() != nil {
			return
		}
		if err != nil {
			h.log.Warn("changes of what the provider reads are not noticed any more", "cause", err)
			return
		}
		if change.Incomplete != nil {
			h.log.Warn("a feed may miss changes of what the provider reads", "err", change.Incomplete)
		}
		began := time.Now()
		h.disturb(change)
		select {
		case <-time.After(rest.after(began)):
		case <-h.ctx.Done():
			return
		}
	}
}

const (
	shortestRest = 50 * time.Millisecond
	longestRest  = 2 * time.Second
)

// A rest is for how long nothing is looked at after something was. It is as long as looking took, so that there is time
// for others, and longer where something changes all the time: perhaps since the guest writes when it is looked at.
type rest struct {
	last time.Duration
	till time.Time
}

// after gives the rest after what began at some time, and has just ended.
func (r *rest) after(began time.Time) time.Duration {
	if r.last *= 2; began.Sub(r.till) > longestRest {
		r.last = 0
	}
	r.last = min(max(r.last, shortestRest), longestRest)
	now := time.Now()
	pause := max(r.last, now.Sub(began))
	r.till = now.Add(pause)
	return pause
}

// disturb has everything looked at that is watched, and forgets what is kept.
func (h *hub) disturb(change FeedChange) {
	if change.Entries && h.caller.implements(abi.OpList) {
		h.publish(h.ctx, "")
	} else {
		h.listVersion.Add(1) // it may tell of sizes, and of times
		h.caller.changed("")
	}
	looked, others := h.watched()
	for _, uri := range others {
		h.publish(h.ctx, uri)
	}
	h.checkAll(looked, change.Since)
}

// watched gives the URIs that are watched: those that can be looked at, and those that are too many for it.
func (h *hub) watched() (looked, others []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for uri, p := range h.polls {
		if p.looked || p.stop != nil {
			looked = append(looked, uri)
		} else {
			others = append(others, uri)
		}
	}
	return looked, others
}

// checkAll checks all of uris, several at a time, after a change.
func (h *hub) checkAll(uris []string, since time.Time) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(cap(h.turns), len(uris)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(uris)) && h.ctx.Err() == nil; i = next.Add(1) - 1 {
				_ = h.check(h.ctx, uris[i], since) // which ends when h.ctx does
			}
		})
	}
	workers.Wait()
}
