package app

import (
	"context"
	"log/slog"

	"github.com/wasmres/wasmres/internal/provider"
	"github.com/wasmres/wasmres/runtime/capability/fscap"
	"github.com/wasmres/wasmres/runtime/watch"
)

// feeds are what tells of changes in the folders that are granted.
func (a *App) feeds() (feeds []func(context.Context) (provider.Feed, error)) {
	if a.cfg.StandIn != nil {
		return nil // the guest may not see these folders at all
	}
	for _, host := range a.watched {
		feeds = append(feeds, func(ctx context.Context) (provider.Feed, error) {
			w, err := watch.Open(ctx, watch.Config{Folder: host, All: true, Ignores: fscap.IsScratch})
			if err != nil {
				return nil, err
			}
			return folder{w, a.cfg.Logger}, nil
		})
	}
	return feeds
}

// A folder is a [provider.Feed] of what changes in one.
type folder struct {
	watcher *watch.Watcher
	log     *slog.Logger
}

// Next implements [provider.Feed].
func (f folder) Next(ctx context.Context) (provider.FeedChange, error) {
	change, err := f.watcher.Next(ctx)
	if change == nil {
		return provider.FeedChange{}, err
	}
	if err != nil {
		f.log.Warn("not all changes of a granted folder are noticed", "cause", err)
	}
	return provider.FeedChange{Since: change.Since, Entries: change.Entries}, nil
}

// Close implements [provider.Feed].
func (f folder) Close() error { return f.watcher.Close() }
