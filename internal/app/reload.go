package app

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/runtime"
)

// ReloadConfig says how to serve a provider that can be replaced.
type ReloadConfig struct {
	Config                // of each provider, without File; Name is that of the server while there is no provider
	Empty   string        // message for clients while there is no provider
	Observe func(Request) // receives each request that has ended, from many goroutines at once
}

// OpenReload returns an App without a provider, which serves that of the last [App.Replace]. The server has the name of
// the first provider if it is loaded when serving begins.
func OpenReload(cfg ReloadConfig) (*App, error) {
	a := newApp(cfg.Config)
	if err := a.openHost(); err != nil {
		return nil, err
	}
	a.reload = runtime.NewReplaceable(cfg.Name, cfg.Empty, a.cfg.Logger)
	a.closers = append(a.closers, a.reload.Close)
	a.source = observer{a.reload.Source(), cfg.Observe}
	return a, nil
}

// Replace loads the provider of a file, which serves all requests from then on; the last provider finishes its own. If
// Replace fails, the last provider stays. It must be called by one goroutine at a time. ctx bounds the loading.
func (a *App) Replace(ctx context.Context, file string) error {
	part := newApp(a.cfg)
	part.host, part.cfg.File, part.cfg.Name = a.host, file, ""
	if err := part.open(ctx); err != nil {
		return err
	}
	if err := a.reload.Replace(part.provider); err != nil {
		return errors.Join(err, part.Close())
	}
	part.WarnMissingGrants()
	return nil
}
