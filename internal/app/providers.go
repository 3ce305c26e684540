package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/runtime"
)

// OpenAll loads several providers, each with a worker and grants of its own, to be served as one. If one fails, it loads
// none. The host and the server are configured by the first config. With one config, without Prefixes, OpenAll does what Open does. ctx bounds
// the loading.
func OpenAll(ctx context.Context, configs []Config) (*App, error) {
	if len(configs) == 1 && len(configs[0].Prefixes) == 0 {
		return Open(ctx, configs[0])
	}
	if len(configs) == 0 {
		return nil, errors.New("open providers: none given")
	}
	a := newApp(configs[0])
	if err := a.openAll(ctx, configs); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// openAll opens the providers on one host, and combines them.
func (a *App) openAll(ctx context.Context, configs []Config) error {
	if err := a.openHost(); err != nil {
		return err
	}
	var members []*runtime.Provider
	for _, cfg := range configs {
		part := newApp(cfg)
		part.host, part.cfg.among, part.cfg.Logger = a.host, true, part.cfg.Logger.With("provider", cfg.Name)
		a.closers = append(a.closers, part.Close)
		if err := part.open(ctx); err != nil {
			return fmt.Errorf("provider %s: %w", cfg.Name, err)
		}
		a.parts, members = append(a.parts, part), append(members, part.provider)
	}
	combined, err := runtime.Combine(members...)
	if err != nil {
		return err
	}
	a.closers, a.source = append(a.closers, combined.Close), combined.Source()
	return nil
}

// each returns the apps of one provider each; none of one that is replaced.
func (a *App) each() []*App {
	if a.reload != nil {
		return nil
	}
	if len(a.parts) == 0 {
		return []*App{a}
	}
	return a.parts
}
