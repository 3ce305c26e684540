package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

const maxPage = 1000 // entries of a list page

// A Provider is a loaded provider. It is safe for concurrent use: at most Limits.Calls calls run at once; others wait for
// at most Limits.Timeout and are then refused with abi.CodeBusy. Close releases it.
//
// Errors of its methods have a code, by [abi.CodeOf], and a message that may be shown to clients. The chain of an error
// may hold an [*abi.Crash], which is for the log alone.
type Provider struct {
	// fixed at creation
	name     string
	prefixes []string
	host     *Host
	ownHost  *Host // nil when the caller owns the Host
	inner    *provider.Provider
	log      *slog.Logger
	close    func() error  // works once
	closed   chan struct{} // is closed when Close begins

	serverOnce sync.Once
	server     *Server // for Handler; nil before the first call
}

// load opens a provider. If it fails, the caller closes the capabilities. released is called when load no longer holds the module; nil
// calls nothing.
func (h *Host) load(ctx context.Context, module []byte, o *Options, released func()) (*Provider, error) {
	if digest := digestOf(module); o.Digest != "" && o.Digest != digest {
		return nil, fmt.Errorf("the module has the digest %s, expected %s", digest, o.Digest)
	}
	values, err := encodeValues(o.Values)
	if err != nil {
		return nil, err
	}
	engine, err := h.engineOf(o.Engine)
	if err != nil {
		return nil, err
	}
	compare, err := h.comparisonOf(o)
	if err != nil {
		return nil, err
	}
	inner, err := provider.Open(ctx, provider.Config{
		Name: o.Name, Version: o.Version, HidePrincipal: o.HidePrincipal, Runner: engine.runner, ModuleCache: h.modules, Source: o.Reload, OnRelease: released, Limits: o.Limits, ModuleLimits: o.ModuleLimits, Lifecycle: o.Lifecycle,
		Services: servicesOf(o), OnUngranted: o.OnUngranted, ExposeErrors: o.ExposeErrors, Values: values, Clock: o.Clock.determinism(),
		Admit: o.Admit, OnCall: o.OnCall, OnFault: o.OnFault, Record: o.Record, Compare: compare, DebugModules: o.DebugModules, Provenance: o.Provenance,
		PageSize: pageSize(o.Limits), Cache: o.Cache, Lazy: o.Lazy, Live: groupOf(o.Live), Share: o.Share.shareOf(), Feeds: feedsOf(o.Capabilities), Logger: o.Logger,
	}, module)
	if err != nil {
		return nil, err
	}
	p := &Provider{name: cmp.Or(o.Name, inner.Manifest().Name), prefixes: o.Prefixes, host: h, inner: inner, log: o.Logger, closed: make(chan struct{})}
	p.close = sync.OnceValue(func() error { return p.release(o.Capabilities) })
	return p, nil
}

// pageSize returns the entries of a list page: as many as the limits allow, and at most maxPage.
func pageSize(l Limits) int { return min(maxPage, cmp.Or(l.Items, limits.DefaultItems)) }

// servicesOf returns the services of all capabilities, beside the configuration.
func servicesOf(o *Options) capability.Services {
	services := capability.Services{abi.ServiceConfig: capability.Config(o.Values)}
	for _, c := range o.Capabilities {
		maps.Copy(services, c.Services())
	}
	return services
}

// feedsOf returns the feeds of those capabilities that have some.
func feedsOf(all []capability.Capability) (feeds []func(context.Context) (capability.Feed, error)) {
	for _, c := range all {
		if f, ok := c.(capability.Feeder); ok {
			feeds = append(feeds, f.Feeds()...)
		}
	}
	return feeds
}

// Name returns the provider's name in logs and as a member.
func (p *Provider) Name() string { return p.name }

// Manifest returns the manifest, which must not be changed.
func (p *Provider) Manifest() *abi.Manifest { return p.inner.Manifest() }

// Source returns the provider's resources, for [NewServer] and for wrappers. It must not be used after Close.
func (p *Provider) Source() resource.Source { return p.inner }

// Handler serves the provider to MCP clients over Streamable HTTP, in every revision of the protocol, on any path where
// the caller mounts it. A GET with the query ?uri=URI downloads a resource. Handler has no authentication; a browser may
// call it from pages of its own origin only. Close ends its streams. [NewServer] has more options.
func (p *Provider) Handler() http.Handler {
	p.serverOnce.Do(func() {
		inForce := p.inner.Info().Limits
		p.server, _ = NewServer(p.inner, &ServerOptions{ // a provider has a name and a version, and nothing else can fail
			QueueTimeout: inForce.Timeout, MaxSlowReaders: inForce.Calls / 2, Logger: p.log,
		})
	})
	if p.server == nil {
		return http.HandlerFunc(refuse)
	}
	return p.server
}

// refuse answers requests to a provider that was closed before the first call of Handler.
func refuse(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "the provider has been closed", http.StatusServiceUnavailable)
}

// Close ends subscriptions and streams, waits for running calls, and releases the provider, its capabilities, and its
// Host if Open or Load made one. It waits for each capability no longer than a second. It is idempotent.
func (p *Provider) Close() error { return p.close() }

// Wake starts the worker process of the provider, if it has none, and waits until that is ready, so that the next call need not. It is
// of use with HostConfig.Idle or Options.Lazy alone: other providers have their process from the beginning. The error is that of a call
// which could not have a process in the time of ctx.
func (p *Provider) Wake(ctx context.Context) error { return p.inner.Wake(ctx) }

func (p *Provider) release(capabilities []capability.Capability) error {
	var errs []error
	close(p.closed)
	p.serverOnce.Do(func() {}) // Handler makes no server from now on
	if p.server != nil {
		errs = append(errs, p.server.Close())
	}
	errs = append(errs, p.inner.Close(), closeAll(capabilities))
	p.host.leave()
	if p.ownHost != nil {
		errs = append(errs, p.ownHost.Close())
	}
	return errors.Join(errs...)
}
