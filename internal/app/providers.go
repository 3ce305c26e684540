package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/composite"
)

// An identity is what clients are told of the server.
type identity struct{ name, title, version, instructions string }

// identityOf is that of a server of one provider.
func identityOf(m *abi.Manifest) identity {
	return identity{name: m.Name, title: m.Title, version: versionOf(m), instructions: m.Description}
}

// OpenAll loads several providers, each with a worker and grants of its own, to be served as one, or none of them.
// Names are told to clients. What configs say of the server as a whole, as Tools, counts of the first. With one
// config it is Open. ctx bounds the loading.
func OpenAll(ctx context.Context, configs []Config) (*App, error) {
	if len(configs) == 1 {
		return Open(ctx, configs[0])
	}
	if len(configs) == 0 {
		return nil, errors.New("no provider")
	}
	a := &App{cfg: configs[0]}
	if err := a.openAll(ctx, configs); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// openAll opens the providers, then what makes one of them.
func (a *App) openAll(ctx context.Context, configs []Config) error {
	members := composite.Config{PageSize: pageSize(a.cfg.Limits), Patience: a.cfg.Limits.Timeout, Logger: a.cfg.Logger}
	for _, cfg := range configs {
		cfg.Logger, cfg.among = cfg.Logger.With("provider", cfg.Name), true
		part, err := Open(ctx, cfg)
		if err != nil {
			return fmt.Errorf("provider %s: %w", cfg.Name, err)
		}
		a.parts = append(a.parts, part)
		a.closers = append(a.closers, part.Close)
		members.Members = append(members.Members, composite.Member{
			Name: cfg.Name, Source: part.provider, Claims: composite.ClaimsOf(part.provider.Module().Manifest()),
		})
	}
	source, err := composite.New(members)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, source.Close)
	a.source, a.about = source, a.identityOfAll()
	a.core, err = a.newCore(nil, nil, nil)
	return err
}

// identityOfAll is that of a server of several providers, whose instructions say what each of them is for.
func (a *App) identityOfAll() identity {
	var about []string
	for _, part := range a.parts {
		if text := part.about.instructions; text != "" {
			about = append(about, part.cfg.Name+": "+text)
		}
	}
	return identity{name: "wasmres", version: a.cfg.Version, instructions: strings.Join(about, "\n")}
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
