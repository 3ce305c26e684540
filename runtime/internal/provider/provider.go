package provider

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/uritemplate"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/internal/provider/cache"
	"github.com/wasmres/wasmres/runtime/internal/subscribe"
	"github.com/wasmres/wasmres/runtime/internal/symbol"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Provider serves the resources of one module. It is safe for concurrent use.
type Provider struct {
	// fixed at creation
	cfg        Config
	limiter    *limiter.Limiter
	host       *guest.Host
	guests     guest.Guests
	routes     []route             // most specific first
	byText     map[string]route    // by the template's normal form
	static     map[string]string   // the guest's spelling of each declared resource, by normal form
	names      func() symbol.Names // of functions, by index; reads them once
	cache      *cache.Cache        // nil when nothing is cached
	broker     *subscribe.Broker
	comparer   *comparer              // nil if no call is compared
	provenance []*resource.Provenance // nil for none
	close      func() error           // works once
}

// A route is one template of the manifest, ready to match.
type route struct {
	template *uritemplate.Template
	declared *abi.Template
	index    uint32 // as the guest counts: from 1
}

// Info describes a provider and how it runs.
type Info struct {
	Digest    string        // SHA-256 of the module's bytes, as in "sha256:9f86…"
	Size      int           // of the module, in bytes
	Packed    bool          // the manifest was read from the module without running it
	Lifecycle abi.Lifecycle // in force: that of the manifest, as far as it is granted
	Limits    limits.Limits // in force
	guest.Info
}

// Info describes the provider and how it runs.
func (p *Provider) Info() Info {
	m := p.host.Module
	return Info{
		Digest: m.Digest, Size: m.Size, Packed: p.host.Packed(), Lifecycle: p.host.Lifecycle(), Limits: p.cfg.Limits,
		Info: p.guests.Info(),
	}
}

// Manifest returns the manifest, which must not be changed.
func (p *Provider) Manifest() *abi.Manifest { return p.host.Manifest() }

// Identity implements [resource.Identified].
func (p *Provider) Identity() resource.Identity {
	m := p.host.Manifest()
	return resource.Identity{Name: m.Name, Title: m.Title, Version: cmp.Or(m.Version, "0"), Instructions: m.Description}
}

// Provenance implements [resource.Traceable].
func (p *Provider) Provenance(abi.URI) []*resource.Provenance { return p.provenance }

// Owner implements [resource.Owned]: every URI belongs to the provider.
func (p *Provider) Owner(abi.URI) (provider string, ok bool) { return p.name(), true }

// TemplateOwner implements [resource.Owned].
func (p *Provider) TemplateOwner(string) (provider string, ok bool) { return p.name(), true }

func (p *Provider) name() string { return cmp.Or(p.cfg.Name, p.host.Manifest().Name) }

// principal returns who the client is, as far as the guest may know it.
func (p *Provider) principal(req *resource.Request) *abi.Principal {
	if p.cfg.HidePrincipal {
		return nil
	}
	return req.Principal
}

// ListVersion implements [resource.Versioned].
func (p *Provider) ListVersion() uint64 { return p.broker.ListVersion() }

// Subscribe implements [resource.Source]. Close ends all subscriptions.
func (p *Provider) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	return p.broker.Subscribe(ctx, uris, list, n)
}

// Read passes the contents of req.URI to sink. The most specific matching template decides the variables, and whether
// the guest receives a range: otherwise contents are whole, without RangeTotal.
func (p *Provider) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	if req.URI.IsZero() {
		return nil, abi.Errorf(abi.CodeInvalidParams, "no URI to read")
	}
	var routed abi.Request
	declared := p.route(&routed, req.URI.Folded(), req.URI.Normal())
	routed.RangeOffset, routed.RangeLength, routed.IfNoneMatch = req.RangeOffset, req.RangeLength, req.IfNoneMatch
	routed.Principal, routed.Meta, routed.Session = p.principal(req), req.Meta, req.Session
	switch cacheable := isCacheable(declared); {
	case !p.isShareable(&routed):
		return p.ask(ctx, &routed, declared, sink)
	case cacheable || p.cache.InUse():
		kept := routed // for the closure, so that reads without one need no allocation
		ask := func(sink abi.Sink) (*abi.Reply, error) { return p.ask(ctx, &kept, declared, sink) }
		return p.cache.Read(ctx, req.URI.Normal(), cacheable, sink, ask)
	}
	reply, err := p.ask(ctx, &routed, declared, sink)
	if err == nil && cache.IsCacheable(reply) {
		p.cache.MarkCacheable(req.URI.Normal())
	}
	return reply, err
}

// invalidate discards cached answers for uri, or all when uri is empty.
func (p *Provider) invalidate(uri string) {
	if p.cache != nil {
		p.cache.Invalidate(uri)
	}
}

// isShareable reports whether the cache may answer a read: it is of a whole resource, and passes no data of the client
// to the guest.
func (p *Provider) isShareable(req *abi.Request) bool {
	whole := req.RangeOffset == 0 && req.RangeLength == 0 && req.IfNoneMatch == ""
	return p.cache != nil && whole && req.Meta == "" && req.Principal == nil && p.host.Lifecycle() != abi.LifecycleSession
}

// isCacheable reports whether a template declares that the answers of all its resources are cacheable.
func isCacheable(declared *abi.Template) bool {
	return declared != nil && declared.TTLMillis > 0 && declared.CacheScope == abi.CachePublic
}

// ask reads a resource from the guest.
func (p *Provider) ask(ctx context.Context, req *abi.Request, declared *abi.Template, sink abi.Sink) (*abi.Reply, error) {
	reply, err := p.Call(ctx, abi.OpRead, req, withoutRange(req, declared, sink))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", req.URI, err)
	}
	if declared != nil && reply.TTLMillis == 0 {
		reply.TTLMillis, reply.CacheScope = declared.TTLMillis, declared.CacheScope
	}
	return reply, nil
}

// route begins a request to the guest, which is empty before, about one URI, as spelled and in normal form, and gives its template;
// nil when it has none.
func (p *Provider) route(routed *abi.Request, uri, normal string) (declared *abi.Template) {
	if declared, ok := p.static[normal]; ok {
		routed.URI = declared
		return nil
	}
	routed.URI = uri
	for _, r := range p.routes {
		values, ok := r.template.Match(uri)
		if !ok {
			continue
		}
		routed.Route = r.index
		for _, v := range values {
			routed.Vars = append(routed.Vars, abi.Var(v))
		}
		return r.declared
	}
	return nil
}

// Complete answers values for the variable req.Arg of the template with the text req.Template.
func (p *Provider) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	r, ok := p.byText[abi.NormalURI(req.Template)]
	if !ok {
		return nil, abi.Errorf(abi.CodeInvalidParams, "no resource template %.128q", req.Template)
	}
	if !slices.Contains(r.template.Variables(), req.Arg) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "template %q has no variable %.64q", r.template, req.Arg)
	}
	if !slices.Contains(r.declared.Completes, req.Arg) {
		return &abi.Reply{}, nil
	}
	reply, err := p.Call(ctx, abi.OpComplete, &abi.Request{
		URI: r.declared.URITemplate, Route: r.index, Arg: req.Arg, Value: req.Value, Vars: req.Vars,
		Principal: p.principal(req), Meta: req.Meta, Session: req.Session,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("complete %s: %w", req.Template, err)
	}
	return reply, nil
}
