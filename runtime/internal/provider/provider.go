package provider

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/abi/uritemplate"
	"github.com/wasmres/wasmres/runtime/capability"
	"github.com/wasmres/wasmres/runtime/internal/provider/cache"
	"github.com/wasmres/wasmres/runtime/internal/sandbox"
	"github.com/wasmres/wasmres/runtime/internal/subscribe"
	"github.com/wasmres/wasmres/runtime/resource"
)

const defaultPageSize = 1000

// Config says how a provider is run.
type Config struct {
	// Runtime says how its module is run. Notify is replaced.
	Runtime sandbox.Config
	// PageSize is the entries of a list page. 0 means 1000.
	PageSize int
	// Cache answers reads from earlier answers, where the guest allows that (a TTL, and the scope public): up to 1 MiB
	// each and 32 MiB in all, for one hour at most, and until the guest reports a change.
	Cache bool
	// Feeds report changes in what the guest reads, such as folders. They are opened when a client first subscribes to
	// something, and closed with the provider. After a change all subscribed resources are compared with what they were, by
	// polling where the guest wants that, and by reading otherwise.
	Feeds  []func(context.Context) (capability.Feed, error)
	Logger *slog.Logger // nil discards
}

// A Provider serves the resources of one module. It is safe for concurrent use.
type Provider struct {
	// fixed at creation
	module   *sandbox.Module
	pageSize int
	routes   []route           // most specific first
	byText   map[string]route  // by the template's normal form
	static   map[string]string // the guest's spelling of each declared resource, by normal form
	cache    *cache.Cache      // nil when nothing is cached
	broker   *subscribe.Broker
}

// A route is one template of the manifest, ready to match.
type route struct {
	template *uritemplate.Template
	declared *abi.Template
	index    uint32 // as the guest counts: from 1
}

// Open loads a module and gets it ready to serve. ctx bounds the loading.
func Open(ctx context.Context, cfg Config, binary []byte) (*Provider, error) {
	if cfg.PageSize <= 0 {
		cfg.PageSize = defaultPageSize
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	limits, err := cfg.Runtime.Limits.WithDefaults()
	if err != nil {
		return nil, err
	}
	p := &Provider{pageSize: cfg.PageSize, static: map[string]string{}, byText: map[string]route{}}
	if cfg.Cache {
		p.cache = cache.New()
	}
	p.broker = subscribe.New(subscribe.Config{
		Call: p.callURI, Implements: p.implements, OnChange: p.invalidate,
		MaxCalls: max(1, limits.Calls/2), Feeds: cfg.Feeds, Logger: cfg.Logger,
	})
	cfg.Runtime.Notify = p.broker.Publish
	module, err := sandbox.Load(ctx, cfg.Runtime, binary)
	if err != nil {
		p.broker.Close()
		return nil, err
	}
	p.module = module
	if err := p.index(module.Manifest()); err != nil {
		return nil, fmt.Errorf("manifest: %w", joinClose(err, p))
	}
	return p, nil
}

func joinClose(err error, p *Provider) error {
	if closeErr := p.Close(); closeErr != nil {
		return fmt.Errorf("%w (and closing: %v)", err, closeErr)
	}
	return err
}

// index gets templates and static resources ready to be looked up.
func (p *Provider) index(m *abi.Manifest) error {
	for i := range m.Resources {
		uri := m.Resources[i].URI
		if _, twice := p.static[abi.NormalURI(uri)]; twice {
			return abi.Errorf(abi.CodeProtocol, "resource %q is declared twice", uri)
		}
		p.static[abi.NormalURI(uri)] = uri
	}
	for i := range m.Templates {
		declared := &m.Templates[i]
		t, err := uritemplate.Parse(abi.FoldURI(declared.URITemplate))
		if err != nil {
			return abi.Errorf(abi.CodeProtocol, "template %.128q: %v", declared.URITemplate, err)
		}
		text := abi.NormalURI(declared.URITemplate)
		if _, twice := p.byText[text]; twice {
			return abi.Errorf(abi.CodeProtocol, "template %q is declared twice", t)
		}
		r := route{template: t, declared: declared, index: uint32(i + 1)}
		p.routes = append(p.routes, r)
		p.byText[text] = r
	}
	slices.SortFunc(p.routes, func(a, b route) int { return uritemplate.Compare(a.template, b.template) })
	return nil
}

// Module is the loaded module, to be looked at.
func (p *Provider) Module() *sandbox.Module { return p.module }

// Identity implements [resource.Identified].
func (p *Provider) Identity() resource.Identity {
	m := p.module.Manifest()
	return resource.Identity{Name: m.Name, Title: m.Title, Version: cmp.Or(m.Version, "0"), Instructions: m.Description}
}

// ListVersion implements [resource.Versioned].
func (p *Provider) ListVersion() uint64 { return p.broker.ListVersion() }

// Subscribe implements [resource.Source]. Close ends all subscriptions.
func (p *Provider) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	return p.broker.Subscribe(ctx, uris, list, n)
}

// callURI calls op of the guest for one URI in normal form, for the Broker.
func (p *Provider) callURI(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error) {
	routed, _ := p.route(uri, uri)
	routed.IfNoneMatch = etag
	defer p.module.Settle()
	return p.module.Call(ctx, op, routed, sink)
}

func (p *Provider) implements(op abi.Op) bool { return p.module.Manifest().Implements(op) }

// AfterResponse implements [resource.AfterResponder].
func (p *Provider) AfterResponse() { p.module.Settle() }

// EndSession forgets what the calls of a session have left in the guest.
func (p *Provider) EndSession(session string) { p.module.EndSession(session) }

// Close ends all subscriptions, waits for running calls and releases the module.
func (p *Provider) Close() error {
	p.broker.Close()
	return p.module.Close()
}

// Read hands the contents of req.URI to sink. The most specific template that matches decides the variables, and whether
// the guest receives a range: otherwise contents are whole, with no RangeTotal.
func (p *Provider) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	if req.URI.IsZero() {
		return nil, abi.Errorf(abi.CodeInvalidParams, "no URI to read")
	}
	routed, declared := p.route(req.URI.Folded(), req.URI.Normal())
	routed.RangeOffset, routed.RangeLength, routed.IfNoneMatch = req.RangeOffset, req.RangeLength, req.IfNoneMatch
	routed.Principal, routed.Meta, routed.Session = req.Principal, req.Meta, req.Session
	switch cacheable := isCacheable(declared); {
	case !p.isShareable(routed):
		return p.ask(ctx, routed, declared, sink)
	case cacheable || p.cache.InUse():
		ask := func(sink abi.Sink) (*abi.Reply, error) { return p.ask(ctx, routed, declared, sink) }
		return p.cache.Read(ctx, req.URI.Normal(), cacheable, sink, ask)
	}
	reply, err := p.ask(ctx, routed, declared, sink)
	if err == nil && cache.IsCacheable(reply) {
		p.cache.MarkCacheable(req.URI.Normal())
	}
	return reply, err
}

// invalidate discards what is cached of uri, or everything when uri is empty.
func (p *Provider) invalidate(uri string) {
	if p.cache != nil {
		p.cache.Invalidate(uri)
	}
}

// isShareable reports whether the cache may answer a read: it is of a whole resource, and tells the guest nothing about
// the client.
func (p *Provider) isShareable(req *abi.Request) bool {
	whole := req.RangeOffset == 0 && req.RangeLength == 0 && req.IfNoneMatch == ""
	return p.cache != nil && whole && req.Meta == "" && req.Principal == nil && p.module.Lifecycle() != abi.LifecycleSession
}

// isCacheable reports whether a template declares that the answers of all its resources are cacheable.
func isCacheable(declared *abi.Template) bool {
	return declared != nil && declared.TTLMillis > 0 && declared.CacheScope == abi.CachePublic
}

// ask has the guest read.
func (p *Provider) ask(ctx context.Context, req *abi.Request, declared *abi.Template, sink abi.Sink) (*abi.Reply, error) {
	reply, err := p.module.Call(ctx, abi.OpRead, req, withoutRange(req, declared, sink))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", req.URI, err)
	}
	if declared != nil && reply.TTLMillis == 0 {
		reply.TTLMillis, reply.CacheScope = declared.TTLMillis, declared.CacheScope
	}
	return reply, nil
}

// route begins a request to the guest about one URI, as it is spelled and in normal form, with the template it belongs
// to; declared is nil when it belongs to none.
func (p *Provider) route(uri, normal string) (routed *abi.Request, declared *abi.Template) {
	if declared, ok := p.static[normal]; ok {
		return &abi.Request{URI: declared}, nil
	}
	routed = &abi.Request{URI: uri}
	for _, r := range p.routes {
		values, ok := r.template.Match(uri)
		if !ok {
			continue
		}
		routed.Route = r.index
		for _, v := range values {
			routed.Vars = append(routed.Vars, abi.Var(v))
		}
		return routed, r.declared
	}
	return routed, nil
}

// Complete answers values for the variable req.Arg of the template whose text is req.Template.
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
	reply, err := p.module.Call(ctx, abi.OpComplete, &abi.Request{
		URI: r.declared.URITemplate, Route: r.index, Arg: req.Arg, Value: req.Value, Vars: req.Vars,
		Principal: req.Principal, Meta: req.Meta, Session: req.Session,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("complete %s: %w", req.Template, err)
	}
	return reply, nil
}
