package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/registry"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A spec says how one provider of a tenant is to be open. Equal specs are one open provider.
type spec struct {
	provider tenant.Provider // as it is opened: a version's Digest and Policy stand in it
	version  int             // 0 for a provider with a Module
	limits   runtime.Limits
	sealed   map[string]time.Time // when the sealed secrets of its policy were set
	uris     bool                 // reports of crashes have URIs
	given    bool                 // the API was given the reference of the module, and the operator has not written it
}

// isSame reports whether two specs are of one open provider.
func (s *spec) isSame(o *spec) bool {
	return s == o || s.provider.Name == o.provider.Name && s.version == o.version && reflect.DeepEqual(s, o)
}

// A member is one open provider.
type member struct {
	*app.App
	meter   Meter
	live    *runtime.Live // has its processes
	release func()        // lets go of its module
}

// Close closes the provider.
func (m *member) Close() error {
	err := m.App.Close()
	m.meter.Close()
	m.release()
	return err
}

// openMember loads a provider. It starts no process before it is called.
func (r *route) openMember(ctx context.Context, s *spec) (*member, error) {
	m, err := r.module(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", s.provider.Name, err)
	}
	live, err := runtime.NewLive(runtime.LiveConfig{Within: r.live})
	if err != nil {
		m.Release()
		return nil, fmt.Errorf("provider %s: %w", s.provider.Name, err)
	}
	meter := r.host.cfg.Meter(tenant.ProviderID{Tenant: r.id, Provider: s.provider.Name}, s.version, live)
	a, err := app.Open(ctx, r.config(s, m, live, meter))
	if err != nil {
		meter.Close()
		m.Release()
		return nil, fmt.Errorf("provider %s: %w", s.provider.Name, err)
	}
	return &member{App: a, meter: meter, live: live, release: m.Release}, nil
}

// module gets the module of a provider.
func (r *route) module(ctx context.Context, s *spec) (Module, error) {
	h, p := r.host, &s.provider
	var m Module
	var err error
	switch {
	case s.version > 0 && h.cfg.Blob == nil:
		return m, errors.New("this server keeps no modules of versions")
	case s.version > 0:
		m, err = h.cfg.Blob(p.Digest)
		m.Digest = p.Digest                              // the file is held to it
		m.From.Repository = "wasmres-provider:" + p.Name // all versions have the same data
	case !registry.LooksLikeReference(p.Module):
		m = Module{File: p.Module, Digest: p.Digest}
	default:
		get := h.cfg.Module
		if s.given {
			get = h.cfg.Given
		}
		if get == nil {
			return m, fmt.Errorf("%s: this server gets no modules from registries", p.Module)
		}
		m, err = get(ctx, p.Module)
	}
	if err != nil {
		return m, err
	}
	if m.Release == nil {
		m.Release = func() {}
	}
	if p.Digest != "" && p.Digest != m.Digest {
		m.Release()
		return m, fmt.Errorf("%s: its module has the digest %s, and %s is demanded", p.Module, m.Digest, p.Digest)
	}
	return m, nil
}

// config returns how to open a provider.
func (r *route) config(s *spec, m Module, live *runtime.Live, meter Meter) app.Config {
	h, p := r.host, &s.provider
	logger := r.log.With("provider", p.Name)
	if s.version > 0 {
		logger = logger.With("version", s.version)
	}
	q, id := r.quota.Load(), tenant.ProviderID{Tenant: r.id, Provider: p.Name}
	version := ""
	if s.version > 0 {
		version = strconv.Itoa(s.version)
	}
	var sealed func(string) (secret.Value, error)
	if h.cfg.Secret != nil {
		sealed = func(name string) (secret.Value, error) { return h.cfg.Secret(r.id, name) }
	}
	return app.Config{
		Engine: p.Engine, Compare: h.shadow(p.Shadow), Compared: func(d *app.Difference, failed error) { h.compared(id, s, d, failed, logger) },
		Sealed: sealed, ProviderVersion: version,
		Record: p.RecordCrashes, Fault: func(f *app.Fault) { h.cfg.Crashed(id, f, s.uris) },
		File: m.File, Digest: m.Digest, From: m.From, Name: p.Name, Prefixes: p.Prefixes, HidePrincipal: !p.PassPrincipal,
		Grants: p.Policy, Limits: s.limits, Cache: true, Host: h.cfg.Runtime, Lazy: true, Live: live, Share: r.share,
		DataDir: filepath.Join(h.cfg.DataDir, "tenants", r.id), Version: h.cfg.Version,
		Admit: q.Provider(p.Name), Used: func(u runtime.Usage) { q.Used(u); meter.Used(u) }, UsedAgain: func(u runtime.Usage) { q.Used(u); meter.UsedAgain(u) },
		Asked: func(capability string, code abi.Code) { h.cfg.Asked(id, capability, code) },
		Denied: func(d app.Denial) {
			logger.Warn(d.String())
			h.cfg.Denied(id, d)
		},
		Logger: slog.New(h.cfg.Logs(id, logger.Handler())),
	}
}
