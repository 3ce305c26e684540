package fscap

import (
	"context"

	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/watch"
)

// Feeds implements [capability.Feeder], with one feed for each directory that can be read.
func (f *FS) Feeds() (feeds []func(context.Context) (capability.Feed, error)) {
	for _, m := range f.mounts {
		if m.access == WriteOnly {
			continue
		}
		feeds = append(feeds, func(ctx context.Context) (capability.Feed, error) {
			w, err := watch.Open(ctx, watch.Config{Folder: m.host, All: true, Ignores: IsTemporary})
			if err != nil {
				return nil, err
			}
			return feed{w}, nil
		})
	}
	return feeds
}

// A feed reports the changes of one directory.
type feed struct{ watcher *watch.Watcher }

// Next implements [capability.Feed].
func (f feed) Next(ctx context.Context) (capability.FeedChange, error) {
	change, err := f.watcher.Next(ctx)
	if change == nil {
		return capability.FeedChange{}, err
	}
	return capability.FeedChange{Since: change.Since, Entries: change.Entries, Incomplete: err}, nil
}

// Close implements [capability.Feed].
func (f feed) Close() error { return f.watcher.Close() }
