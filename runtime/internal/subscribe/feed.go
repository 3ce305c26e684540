package subscribe

import (
	"context"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
)

// feeds are followed from the first Subscribe on.
type feeds struct {
	begin  sync.Once
	opened chan struct{} // closed when all of them are open, or cannot be opened
}

// openFeeds begins to follow all feeds, and waits until they are open.
func (b *Broker) openFeeds(ctx context.Context) {
	b.feeds.begin.Do(b.followAll)
	select {
	case <-b.feeds.opened:
	case <-ctx.Done():
	case <-b.ctx.Done():
	}
}

func (b *Broker) followAll() {
	var opening sync.WaitGroup
	opening.Add(len(b.cfg.Feeds))
	for _, open := range b.cfg.Feeds {
		b.spawn(func() { b.follow(open, opening.Done) })
	}
	b.spawn(func() {
		opening.Wait()
		close(b.feeds.opened)
	})
}

// follow opens one feed and follows it until it ends or the Broker is closed.
func (b *Broker) follow(open func(context.Context) (capability.Feed, error), opened func()) {
	feed, err := open(b.ctx)
	opened()
	if err != nil {
		if b.ctx.Err() == nil {
			b.cfg.Logger.Warn("feed not opened, changes of what the provider reads are not noticed", "err", err)
		}
		return
	}
	defer feed.Close()
	var pauses backoff
	for {
		change, err := feed.Next(b.ctx)
		if b.ctx.Err() != nil {
			return
		}
		if err != nil {
			b.cfg.Logger.Warn("feed ended, changes of what the provider reads are not noticed any more", "err", err)
			return
		}
		if change.Incomplete != nil {
			b.cfg.Logger.Warn("feed incomplete, some changes of what the provider reads are not noticed", "err", change.Incomplete)
		}
		began := time.Now()
		b.onFeedChange(change)
		select {
		case <-time.After(pauses.after(began)):
		case <-b.ctx.Done():
			return
		}
	}
}

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 2 * time.Second
)

// A backoff is the pause after each round of checks. It is as long as the checks took, so that the guest has time for
// clients, and doubles while changes follow one another: a guest may write whenever it is checked.
type backoff struct {
	last time.Duration
	till time.Time
}

// after returns the pause after checks that began at that time and end now.
func (o *backoff) after(began time.Time) time.Duration {
	if o.last *= 2; began.Sub(o.till) > maxBackoff {
		o.last = 0
	}
	o.last = min(max(o.last, minBackoff), maxBackoff)
	now := time.Now()
	pause := max(o.last, now.Sub(began))
	o.till = now.Add(pause)
	return pause
}

// onFeedChange has all subscriptions checked, and reports a change of those that are too many to be compared.
func (b *Broker) onFeedChange(change capability.FeedChange) {
	if change.Entries && b.cfg.Implements(abi.OpList) {
		b.Publish(b.ctx, "")
	} else {
		b.listVersion.Add(1) // the list may contain sizes and times
		b.cfg.OnChange("")
	}
	compared, others := b.all()
	for _, uri := range others {
		b.Publish(b.ctx, uri)
	}
	b.checkAll(compared, change.Since)
}

// all returns the URIs with subscribers: those that are compared, and the others.
func (b *Broker) all() (compared, others []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for uri, sub := range b.subscriptions {
		if sub.isCompared || sub.stopPolling != nil {
			compared = append(compared, uri)
		} else {
			others = append(others, uri)
		}
	}
	return compared, others
}
