package capability

import (
	"context"
	"time"
)

// A Capability is something that an operator may grant to a provider, such as the files of a directory. The package of
// each kind opens them.
type Capability interface {
	// Services gives what guests can call. The caller must not change it.
	Services() Services
	// Close releases the capability. Its services fail from then on.
	Close() error
}

// A Feeder is a [Capability] that can report when something that guests read has changed.
type Feeder interface {
	Capability
	// Feeds gives functions, each of which opens a feed. The host calls them when a client first subscribes, and closes
	// the feeds.
	Feeds() []func(context.Context) (Feed, error)
}

// A Feed reports changes in something that guests read.
type Feed interface {
	// Next waits for changes since the last call, or since the feed was opened. An error ends the feed.
	Next(ctx context.Context) (FeedChange, error)
	Close() error
}

// A FeedChange is one report of a [Feed].
type FeedChange struct {
	Since   time.Time // no change is older
	Entries bool      // entries may have been added or removed, so that lists may have changed
	// Incomplete is why the feed may miss changes; nil when it reports all. The host logs it.
	Incomplete error
}
