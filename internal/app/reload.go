package app

import (
	"context"
	"errors"

	"github.com/wasmres/wasmres/runtime"
)

// ReloadConfig says how to serve a provider that is replaced now and then.
type ReloadConfig struct {
	Config                // of all of them, File and CacheDir aside; Name is the server's while there is none
	Empty   string        // what clients are told while there is no provider
	Observe func(Request) // receives each request that has ended, from many goroutines at once
}

// OpenReload gives an App without a provider, ready to be served: what [App.Replace] was given last. What clients are
// told of the server is that of the first provider, if it is there when the serving begins.
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

// Replace loads the provider of a file and has it serve what begins from then on, in the place of the last one, which
// ends what it has begun. When it fails, the last one goes on. It is called by one goroutine at a time. ctx bounds the
// loading.
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
