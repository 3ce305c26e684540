package capability

import (
	"context"
	"time"
)

// A Capability is something that a provider may be granted, such as the files of a folder. The package of each kind says
// how to open one.
type Capability interface {
	// Services are what guests can call. It must not be changed.
	Services() Services
	// Close releases the capability. Services fail from then on.
	Close() error
}

// A Feeder is a [Capability] that can tell when something has changed that guests read.
type Feeder interface {
	Capability
	// Feeds gives functions that open a feed each. The host calls them when a client first subscribes to something.
	Feeds() []func(context.Context) (Feed, error)
}

// A Feed tells of changes in something that guests read.
type Feed interface {
	// Next waits for changes since the last call, or since the feed was opened. An error ends the feed.
	Next(ctx context.Context) (FeedChange, error)
	Close() error
}

// A FeedChange is what a [Feed] tells.
type FeedChange struct {
	Since   time.Time // all of it has happened since then
	Entries bool      // entries may have come or gone, so that lists may have changed
	// Incomplete says why the feed may miss changes; nil when it reports all. The host logs it.
	Incomplete error
}
