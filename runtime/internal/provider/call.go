package provider

import (
	"cmp"
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/limiter"
	"github.com/wasmres/wasmres/runtime/limits"
	"github.com/wasmres/wasmres/runtime/trace"
)

// Call runs one operation of the guest with req as it is, without routes, pages or cache, in an instance by the
// lifecycle in force. Contents go to sink while the guest runs; a nil sink refuses them. [abi.CodeOf] gives the code of
// an error, after which the contents in sink are invalid. The caller calls AfterResponse when it has sent the answer.
func (p *Provider) Call(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	if op != abi.OpDescribe && !p.implements(op) {
		return nil, abi.Errorf(abi.CodeUnsupported, "the provider does not implement %s", op)
	}
	if p.cfg.Admit != nil {
		if err := p.cfg.Admit(ctx); err != nil {
			return nil, err
		}
	}
	return p.callAdmitted(ctx, op, req, sink)
}

// callAdmitted is Call, for a call that Config.Admit allows or is not asked about.
func (p *Provider) callAdmitted(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink) (*abi.Reply, error) {
	reply, _, err := p.run(ctx, op, req, sink, nil)
	return reply, err
}

// run runs a call, from an origin of its own unless that is nil, and returns what it has used.
func (p *Provider) run(ctx context.Context, op abi.Op, req *abi.Request, sink abi.Sink, origin *guest.Origin) (*abi.Reply, limits.Usage, error) {
	request := trace.From(ctx)
	ticket, err := p.enter(ctx, request, req)
	if err != nil {
		return nil, limits.Usage{}, err
	}
	span := p.beginSpan(request, op, req)
	w := p.comparer.begin(sink)
	c := p.host.NewCall(op, req, w.sink(sink))
	c.SetSpan(span)
	if origin != nil {
		c.SetOrigin(*origin)
	} else {
		c.BeginTape(p.cfg.Record || w != nil)
	}
	d := c.Bound(ctx)
	defer d.Release()
	c.Begin(ctx, d, ticket)
	defer c.End()
	err = c.FinalError(p.guests.Call(d, c))
	span.End(abi.CodeOf(err).String())
	guest.CompleteCrash(c, err, p.names)
	used := c.Usage(err)
	used.CPU = c.CPU()
	if p.cfg.OnCall != nil {
		p.cfg.OnCall(ctx, used)
	}
	p.comparer.ended(ctx, w, c, used, err)
	if err == nil {
		return c.Reply(), used, nil
	}
	if p.cfg.OnFault != nil && isFault(err) {
		p.tellFault(ctx, c, err, used)
	}
	return nil, used, err
}

// enter waits until a call may run, in a span of its own within that of the request.
func (p *Provider) enter(ctx context.Context, request *trace.Span, req *abi.Request) (limiter.Ticket, error) {
	span := request.Child("queue")
	ticket, err := p.limiter.Enter(ctx, p.host.StateKey(req.Session))
	span.End(abi.CodeOf(err).String())
	return ticket, err
}

// beginSpan begins the span of a call, within that of the request. Both are nil for a request that is not traced.
func (p *Provider) beginSpan(request *trace.Span, op abi.Op, req *abi.Request) *trace.Span {
	if request == nil {
		return nil
	}
	span := request.Child("call")
	span.Set(trace.Operation, op.String())
	for _, s := range []*trace.Span{request, span} {
		s.Set(trace.Provider, p.name())
		s.Set(trace.Version, p.version())
		s.Set(trace.Template, p.templateOf(req))
	}
	return span
}

// version returns what traces call the provider's version.
func (p *Provider) version() string { return cmp.Or(p.cfg.Version, p.host.Manifest().Version) }

// templateOf returns the template of a routed request, or the URI that the manifest has; empty for none.
func (p *Provider) templateOf(req *abi.Request) string {
	for _, r := range p.routes {
		if r.index == req.Route {
			return r.declared.URITemplate
		}
	}
	if _, ok := p.static[abi.NormalURI(req.URI)]; ok {
		return req.URI
	}
	return ""
}

// callURI calls op of the guest for one URI in normal form, for the Broker.
func (p *Provider) callURI(ctx context.Context, op abi.Op, uri, etag string, sink abi.Sink) (*abi.Reply, error) {
	var routed abi.Request
	p.route(&routed, uri, uri)
	routed.IfNoneMatch = etag
	defer p.AfterResponse()
	if !p.implements(op) {
		return nil, abi.Errorf(abi.CodeUnsupported, "the provider does not implement %s", op)
	}
	return p.callAdmitted(ctx, op, &routed, sink)
}

func (p *Provider) implements(op abi.Op) bool { return p.host.Manifest().Implements(op) }

// AfterResponse implements [resource.AfterResponder]: it resets the instances of ended calls. Calling it is optional.
func (p *Provider) AfterResponse() { p.guests.ResetUsed() }

// Wake starts the process of the guests, unless it runs or they need none, and waits until it is ready or ctx ends.
func (p *Provider) Wake(ctx context.Context) error {
	if w, ok := p.guests.(guest.Waker); ok {
		return w.Wake(ctx)
	}
	return nil
}

// EndSession discards the guest state of a session, which has no more calls.
func (p *Provider) EndSession(session string) { p.guests.EndSession(session) }
