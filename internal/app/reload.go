package app

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/provider"
	"github.com/wasmres/wasmres/internal/swap"
)

// ReloadConfig says how to serve a provider that is replaced now and then.
type ReloadConfig struct {
	Config                // of all of them, File and CacheDir aside; Name is the server's while there is none
	Empty   string        // what clients are told while there is no provider
	Observe func(Request) // is told of each request that has ended, by many goroutines at once
}

// A reload is what an App has whose provider can be replaced.
type reload struct {
	swap  *swap.Source
	first atomic.Pointer[identity] // of the first provider; nil while there is none
}

// OpenReload gives an App without a provider, ready to be served: what [App.Replace] was given last. What clients are
// told of the server is that of the first provider, if it is there when the serving begins.
func OpenReload(cfg ReloadConfig) (*App, error) {
	a, err := newApp(cfg.Config)
	if err != nil {
		return nil, err
	}
	a.reload = &reload{swap: swap.New(swap.Config{Empty: cfg.Empty, Logger: a.cfg.Logger})}
	a.closers = append(a.closers, a.reload.swap.Close)
	a.source = observer{a.reload.swap, cfg.Observe}
	a.about = identity{name: cfg.Name, version: versionOf(&abi.Manifest{})}
	a.core, err = a.newCore(nil, nil, nil)
	return a, err
}

// Replace loads the provider of a file and has it serve what begins from then on, in the place of the last one, which
// ends what it has begun. When it fails, the last one goes on. It is called by one goroutine at a time. ctx bounds the
// loading; cacheDir is as in [Config], for this provider.
func (a *App) Replace(ctx context.Context, file, cacheDir string) error {
	cfg := a.cfg
	cfg.File, cfg.CacheDir = file, cacheDir
	part, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	a.reload.first.CompareAndSwap(nil, &part.about)
	if err := a.reload.swap.Replace(generation{part.provider, part}); err != nil {
		return errors.Join(err, part.Close())
	}
	part.WarnUngranted()
	return nil
}

// A generation is one provider of those that replace each other, with all that was opened for it.
type generation struct {
	*provider.Provider
	app *App
}

// Close implements [swap.Generation].
func (g generation) Close() error { return g.app.Close() }

// identity is what clients are told of the server.
func (a *App) identity() identity {
	if a.reload != nil {
		if first := a.reload.first.Load(); first != nil {
			return *first
		}
	}
	return a.about
}
