package capability

import (
	"context"
	"time"
)

// A Capability is access that an operator may grant to a provider, as to the files of a directory. A package for each
// kind opens it.
type Capability interface {
	// Services returns the services that guests may call. The caller must not change it.
	Services() Services
	// Close releases the capability. Its services fail from then on.
	Close() error
}

// A Feeder is a [Capability] that reports changes of the data that guests read.
type Feeder interface {
	Capability
	// Feeds returns functions that each open a feed. The host calls them when a client first subscribes, and closes the
	// feeds.
	Feeds() []func(context.Context) (Feed, error)
}

// A Feed reports changes of the data that guests read.
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
