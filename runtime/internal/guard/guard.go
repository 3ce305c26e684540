// Package guard shows each client only the resources that its identity permits, by action: see [auth.Action].
//
// A [Source] wraps the source of a server. It finds the client of a request in the context: see [auth.IdentityOf]. What the
// identity hides is as if it did not exist: reads do not find it, lists and completions leave it out, and subscriptions
// do not accept it. A request without an identity sees nothing. Answers are private: no cache shares them.
package guard

import (
	"context"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/auth"
	"github.com/wasmres/wasmres/runtime/resource"
	"github.com/wasmres/wasmres/runtime/trace"
)

// maxPages is how many pages of the source one page may be made of.
const maxPages = 8

// A Source is the source that it wraps, as the client of each request may see it. It is not a [resource.Versioned], so that
// no page of a list is cached for several clients.
type Source struct{ source resource.Source }

// New wraps a source.
func New(source resource.Source) *Source { return &Source{source} }

// errHidden is what a client gets that has no identity.
var errHidden = abi.Errorf(abi.CodeDenied, "the client is not authenticated")

// spanName is that of the span in which the guard decides.
const spanName = "guard"

// enter gives the identity of the client, and the request that the source gets: with the principal.
func enter(ctx context.Context, req *resource.Request) (*auth.Identity, *resource.Request, error) {
	span := trace.Start(ctx, spanName)
	i, named, err := name(ctx, req)
	span.End(abi.CodeOf(err).String())
	return i, named, err
}

func name(ctx context.Context, req *resource.Request) (*auth.Identity, *resource.Request, error) {
	i := auth.IdentityOf(ctx)
	if i == nil {
		return nil, nil, errHidden
	}
	named := *req
	named.Principal = i.Principal()
	return i, &named, nil
}

// List implements [resource.Source]. If all entries of a page are hidden, it answers a later page.
func (s *Source) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	i, req, err := enter(ctx, req)
	if err != nil {
		return nil, err
	}
	v := view{s, i, auth.List}
	if v.isEmpty() {
		return empty(req)
	}
	var missing []resource.Degraded
	defer func() { v.degrade(ctx, missing) }()
	for page := 1; ; page++ {
		reply, err := s.source.List(resource.WithDegraded(ctx, &missing), req)
		if err != nil {
			return nil, err
		}
		reply = private(reply)
		if i.PermitsAll(auth.List) {
			return reply, nil
		}
		reply.Resources = permitted(reply.Resources, func(r *abi.Resource) bool { return v.permits(r.URI) })
		if len(reply.Resources) > 0 || reply.NextCursor == "" || page == maxPages {
			return reply, nil
		}
		req.Cursor = reply.NextCursor
	}
}

// empty answers a list of which the client sees nothing. No cursor can be one that it was given.
func empty(req *resource.Request) (*abi.Reply, error) {
	if req.Cursor != "" {
		return nil, abi.Errorf(abi.CodeInvalidParams, "invalid cursor")
	}
	return &abi.Reply{CacheScope: abi.CachePrivate}, nil
}

// Templates implements [resource.Source]. It leaves out templates of which no URI could be permitted.
func (s *Source) Templates(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	i, req, err := enter(ctx, req)
	if err != nil {
		return nil, err
	}
	v := view{s, i, auth.List}
	if v.isEmpty() {
		return empty(req)
	}
	var missing []resource.Degraded
	defer func() { v.degrade(ctx, missing) }()
	reply, err := s.source.Templates(resource.WithDegraded(ctx, &missing), req)
	if err != nil {
		return nil, err
	}
	reply = private(reply)
	if !i.PermitsAll(auth.List) {
		reply.Templates = permitted(reply.Templates, func(t *abi.Template) bool { return v.mayPermitTemplate(t.URITemplate) })
	}
	return reply, nil
}

// Read implements [resource.Source].
func (s *Source) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	span := trace.Start(ctx, spanName)
	v, req, err := s.enterRead(ctx, req)
	span.End(abi.CodeOf(err).String())
	switch {
	case err != nil:
		return nil, err
	case v.identity.PermitsAll(v.action):
		reply, err := s.source.Read(ctx, req, sink)
		return privateOr(reply, err)
	}
	f := &filter{Sink: sink, view: v}
	reply, err := s.source.Read(ctx, req, f)
	switch {
	case abi.CodeOf(err) == abi.CodeNotFound:
		return nil, notFound(err)
	case err == nil && f.hidden > 0 && f.shown == 0:
		return nil, notFound(nil)
	}
	return privateOr(reply, err)
}

// enterRead is enter for a read, which must be permitted.
func (s *Source) enterRead(ctx context.Context, req *resource.Request) (v view, named *resource.Request, err error) {
	i, named, err := name(ctx, req)
	if err != nil {
		return v, nil, err
	}
	v = view{s, i, auth.Read}
	if req.Download {
		v.action = auth.Download
	}
	if !i.PermitsAll(v.action) && !v.permitsURI(req.URI) {
		return v, nil, notFound(nil)
	}
	return v, named, nil
}

// notFound is the error of a read, of a hidden resource and of one that does not exist: the provider's words about the
// latter would tell the two apart. cause is for the log; nil for none.
func notFound(cause error) error {
	e := abi.Errorf(abi.CodeNotFound, "")
	if cause != nil {
		return e.Because(cause)
	}
	return e
}

// Complete implements [resource.Source]. It leaves out values that make a hidden URI, as far as the URI is known.
func (s *Source) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	i, req, err := enter(ctx, req)
	if err != nil {
		return nil, err
	}
	v := view{s, i, auth.Complete}
	if !i.PermitsAll(v.action) && !v.mayPermitTemplate(req.Template) {
		return nil, abi.Errorf(abi.CodeInvalidParams, "no resource template %.128q", req.Template)
	}
	reply, err := s.source.Complete(ctx, req)
	if err != nil || i.PermitsAll(v.action) {
		return reply, err
	}
	shown := permitted(reply.Completions, func(value *string) bool {
		uri, whole := expand(req, *value)
		if whole {
			return v.permits(uri)
		}
		return v.mayPermitHead(req.Template, uri)
	})
	if len(shown) == len(reply.Completions) && !reply.CompletionMore {
		return reply, nil
	}
	own := *reply
	own.Completions, own.CompletionTotal = shown, 0 // the number of all would reveal hidden ones
	return &own, nil
}

// Subscribe implements [resource.Source]. A subscription ends with the identity.
func (s *Source) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	i := auth.IdentityOf(ctx)
	if i == nil {
		return nil, errHidden
	}
	v := view{s, i, auth.Watch}
	uris = permitted(uris, func(uri *abi.URI) bool { return v.permitsURI(*uri) })
	list = list && i.MayPermit(auth.List, "")
	if len(uris) == 0 && !list {
		return nil, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	ended, release := i.Hold()
	stop := context.AfterFunc(ended, cancel)
	context.AfterFunc(ctx, func() { stop(); release(); cancel() })
	return s.source.Subscribe(ctx, uris, list, n)
}

// Provenance implements [resource.Traceable].
func (s *Source) Provenance(uri abi.URI) []*resource.Provenance {
	return resource.ProvenanceOf(s.source, uri)
}

// EndSession implements [resource.SessionEnder].
func (s *Source) EndSession(session string) {
	if e, ok := s.source.(resource.SessionEnder); ok {
		e.EndSession(session)
	}
}

// AfterResponse implements [resource.AfterResponder].
func (s *Source) AfterResponse() {
	if a, ok := s.source.(resource.AfterResponder); ok {
		a.AfterResponse()
	}
}

// private gives a copy of a reply that no cache may share.
func private(reply *abi.Reply) *abi.Reply {
	own := *reply
	own.CacheScope = abi.CachePrivate
	return &own
}

func privateOr(reply *abi.Reply, err error) (*abi.Reply, error) {
	if err != nil {
		return nil, err
	}
	return private(reply), nil
}

// permitted gives the entries for which may is true, in a list of its own.
func permitted[T any](list []T, may func(*T) bool) []T {
	var shown []T
	for i := range list {
		if may(&list[i]) {
			shown = append(shown, list[i])
		}
	}
	return shown
}
