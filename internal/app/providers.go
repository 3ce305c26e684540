package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmres/wasmres/runtime"
)

// OpenAll loads several providers, each with a worker and grants of its own, to be served as one, or none of them.
// Clients are told their names. What configs say of the host and the server counts of the first. With one config it is
// Open. ctx bounds the loading.
func OpenAll(ctx context.Context, configs []Config) (*App, error) {
	if len(configs) == 1 {
		return Open(ctx, configs[0])
	}
	if len(configs) == 0 {
		return nil, errors.New("no provider")
	}
	a := newApp(configs[0])
	if err := a.openAll(ctx, configs); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// openAll opens the providers on one host, then what makes one of them.
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

// each gives the apps of one provider that a is made of for good.
func (a *App) each() []*App {
	if a.reload != nil {
		return nil
	}
	if len(a.parts) == 0 {
		return []*App{a}
	}
	return a.parts
}
