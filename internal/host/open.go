package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A generation is the providers of a tenant, as one version of its configuration has them. It is a [runtime.Replacement].
type generation struct {
	app     *app.App
	release []func()
}

// Source implements [runtime.Replacement].
func (g *generation) Source() resource.Source {
	if g.app == nil {
		return nothing{}
	}
	return g.app.Source()
}

// Close implements [runtime.Replacement].
func (g *generation) Close() error {
	var err error
	if g.app != nil {
		err = g.app.Close()
	}
	for _, f := range g.release {
		f()
	}
	return err
}

// openGeneration loads the providers of the tenant. They start no process before they are called.
func (r *route) openGeneration(ctx context.Context, is *settings) (*generation, error) {
	g := &generation{}
	var configs []app.Config
	for i := range is.tenant.Providers {
		p := &is.tenant.Providers[i]
		cfg, err := r.config(ctx, g, p, is)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("provider %s: %w", p.Name, err), g.Close())
		}
		configs = append(configs, cfg)
	}
	if len(configs) == 0 {
		return g, nil
	}
	var err error
	if g.app, err = app.OpenAll(ctx, configs); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// config returns how to open a provider.
func (r *route) config(ctx context.Context, g *generation, p *tenant.Provider, is *settings) (app.Config, error) {
	h := r.host
	logger := h.cfg.Logger.With("tenant", r.id)
	if len(is.tenant.Providers) == 1 {
		logger = logger.With("provider", p.Name) // package app names each of several
	}
	cfg := app.Config{
		File: p.Module, Digest: p.Digest, Name: p.Name, Prefixes: p.Prefixes, HidePrincipal: !p.PassPrincipal, Grants: p.Policy,
		Limits: limitsOf(p, is.plan), Cache: true, Host: h.cfg.Runtime, Lazy: true, Live: r.live,
		DataDir: filepath.Join(h.cfg.DataDir, "tenants", r.id), Version: h.cfg.Version,
		Admit: r.quotaOf(is).Provider(p.Name), Used: func(u runtime.Usage) { r.used(is, u) },
		Logger: logger,
	}
	if !registry.LooksLikeReference(p.Module) {
		return cfg, nil
	}
	if h.cfg.Module == nil {
		return cfg, fmt.Errorf("%s: this server gets no modules from registries", p.Module)
	}
	m, err := h.cfg.Module(ctx, p.Module)
	if err != nil {
		return cfg, err
	}
	if p.Digest != "" && p.Digest != m.Digest {
		m.Release()
		return cfg, fmt.Errorf("%s: its module has the digest %s, and the file of the tenant demands %s", p.Module, m.Digest, p.Digest)
	}
	g.release = append(g.release, m.Release)
	cfg.File, cfg.Digest, cfg.From = m.File, m.Digest, m.From
	return cfg, nil
}

// isSameProviders reports whether an open tenant has the providers of another version of it.
func isSameProviders(o *open, t *tenant.Tenant, plan *tenant.Plan) bool {
	return reflect.DeepEqual(o.of.Providers, t.Providers) && o.plan.Limits == plan.Limits
}
