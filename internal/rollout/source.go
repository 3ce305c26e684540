package rollout

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A Canary is a version of one provider on trial.
type Canary struct {
	Provider string // its name; what is shared out depends on it and on Version
	Version  int    // from 1
	Share    int    // of the clients, in percent; others by the header alone
	// Source is all providers, with this version in its place.
	Source resource.Source
	Trial  *Trial

	salt uint64
}

// A Source serves each client by the canary that it picks for it, or by the stable source. It is safe for concurrent use,
// and closes nothing.
type Source struct {
	stable   resource.Source
	canaries []*Canary // of two that would have a client, the first one has it
}

// New makes a Source. There is one Canary of a provider.
func New(stable resource.Source, canaries ...Canary) (*Source, error) {
	s := &Source{stable: stable}
	for _, c := range canaries {
		if c.Provider == "" || c.Version < 1 || c.Share < 0 || c.Share > 100 || c.Source == nil || c.Trial == nil {
			return nil, errors.New("rollout: a canary needs a provider, a version from 1, a share from 0 to 100, a source and a trial")
		}
		if slices.ContainsFunc(s.canaries, func(o *Canary) bool { return o.Provider == c.Provider }) {
			return nil, errors.New("rollout: provider " + c.Provider + " has two canaries")
		}
		c.salt = hash(offset64, c.Provider+"@"+strconv.Itoa(c.Version))
		s.canaries = append(s.canaries, &c)
	}
	return s, nil
}

// Pick returns the provider whose canary the client of a subscription gets; false for none.
func (s *Source) Pick(ctx context.Context) (provider string, ok bool) {
	if c := s.pick(ctx, nil); c != nil {
		return c.Provider, true
	}
	return "", false
}

// of returns the source of a canary; nil is none.
func (s *Source) of(c *Canary) resource.Source {
	if c == nil {
		return s.stable
	}
	return c.Source
}

// observe counts a call of a provider that has ended; picked is the canary whose source answered, nil for none.
func (s *Source) observe(ctx context.Context, provider string, picked *Canary, fault bool, took time.Duration) {
	if ctx.Err() != nil {
		return // the client has left, or the server ends
	}
	for _, c := range s.canaries {
		if c.Provider == provider {
			c.Trial.observe(c == picked, fault, took)
		}
	}
}

// List implements [resource.Source].
func (s *Source) List(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.list(ctx, req, resource.Source.List)
}

// Templates implements [resource.Source].
func (s *Source) Templates(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	return s.list(ctx, req, resource.Source.Templates)
}

// list answers a page. All providers may have a part of it, and those with a fault are missing from it.
func (s *Source) list(
	ctx context.Context, req *resource.Request, page func(resource.Source, context.Context, *resource.Request) (*abi.Reply, error),
) (*abi.Reply, error) {
	picked := s.pick(ctx, req)
	var missing []resource.Degraded
	reply, err := page(s.of(picked), resource.WithDegraded(ctx, &missing), req)
	for _, m := range missing {
		resource.Degrade(ctx, m)
	}
	for _, c := range s.canaries {
		fault := isFault(err) || slices.ContainsFunc(missing, func(m resource.Degraded) bool {
			return m.Provider == c.Provider && slices.Contains(faults, m.Code)
		})
		s.observe(ctx, c.Provider, picked, fault, -1)
	}
	return private(reply), err
}

// Read implements [resource.Source].
func (s *Source) Read(ctx context.Context, req *resource.Request, sink abi.Sink) (*abi.Reply, error) {
	picked := s.pick(ctx, req)
	source := s.of(picked)
	began, waited := time.Now(), blocked(sink)
	reply, err := source.Read(ctx, req, sink)
	if provider, ok := resource.OwnerOf(source, req.URI); ok {
		took := time.Since(began) - (blocked(sink) - waited)
		if err != nil {
			took = -1
		}
		s.observe(ctx, provider, picked, isFault(err), took)
	}
	return private(reply), err
}

// blocked returns for how long a client has kept the provider waiting.
func blocked(sink abi.Sink) time.Duration {
	for sink != nil {
		if b, ok := sink.(interface{ Blocked() time.Duration }); ok {
			return b.Blocked()
		}
		w, ok := sink.(interface{ Unwrap() abi.Sink })
		if !ok {
			break
		}
		sink = w.Unwrap()
	}
	return 0
}

// Complete implements [resource.Source].
func (s *Source) Complete(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	picked := s.pick(ctx, req)
	source := s.of(picked)
	reply, err := source.Complete(ctx, req)
	if provider, ok := resource.TemplateOwnerOf(source, req.Template); ok {
		s.observe(ctx, provider, picked, isFault(err), -1)
	}
	return reply, err
}

// HasDirectories implements [resource.Directories]: it reports whether one of the sources has directories.
func (s *Source) HasDirectories() bool { return slices.ContainsFunc(s.all(), resource.HasDirectories) }

// ReadDirectory implements [resource.Directories].
func (s *Source) ReadDirectory(ctx context.Context, req *resource.Request) (*abi.Reply, error) {
	picked := s.pick(ctx, req)
	source := s.of(picked)
	reply, err := resource.ReadDirectory(ctx, source, req)
	if provider, ok := resource.OwnerOf(source, req.URI); ok {
		s.observe(ctx, provider, picked, isFault(err), -1)
	}
	return private(reply), err
}

// Subscribe implements [resource.Source]. A subscription stays where it began.
func (s *Source) Subscribe(
	ctx context.Context, uris []abi.URI, list bool, n resource.Notifier,
) (accepted []abi.URI, err error) {
	return s.of(s.pick(ctx, nil)).Subscribe(ctx, uris, list, n)
}

// private returns a reply that no cache may give to another client, whom another version may serve.
func private(reply *abi.Reply) *abi.Reply {
	if reply == nil || reply.CacheScope == abi.CachePrivate {
		return reply
	}
	own := *reply
	own.CacheScope = abi.CachePrivate
	return &own
}

// all returns the sources.
func (s *Source) all() []resource.Source {
	sources := []resource.Source{s.stable}
	for _, c := range s.canaries {
		sources = append(sources, c.Source)
	}
	return sources
}

// AfterResponse implements [resource.AfterResponder].
func (s *Source) AfterResponse() {
	for _, one := range s.all() {
		if a, ok := one.(resource.AfterResponder); ok {
			a.AfterResponse()
		}
	}
}

// EndSession implements [resource.SessionEnder].
func (s *Source) EndSession(session string) {
	for _, one := range s.all() {
		if e, ok := one.(resource.SessionEnder); ok {
			e.EndSession(session)
		}
	}
}

// Owner implements [resource.Owned]. A URI that belongs to one provider for some clients, and to another one for others,
// belongs to none.
func (s *Source) Owner(uri abi.URI) (provider string, ok bool) {
	return s.ownerBy(func(one resource.Source) (string, bool) { return resource.OwnerOf(one, uri) })
}

// TemplateOwner implements [resource.Owned], as Owner does.
func (s *Source) TemplateOwner(template string) (provider string, ok bool) {
	return s.ownerBy(func(one resource.Source) (string, bool) { return resource.TemplateOwnerOf(one, template) })
}

func (s *Source) ownerBy(ownerIn func(resource.Source) (string, bool)) (provider string, ok bool) {
	for _, one := range s.all() {
		switch name, known := ownerIn(one); {
		case known && ok && name != provider:
			return "", false
		case known:
			provider, ok = name, true
		}
	}
	return provider, ok
}

// Identity implements [resource.Identified]: that of the stable source.
func (s *Source) Identity() resource.Identity {
	if i, ok := s.stable.(resource.Identified); ok {
		return i.Identity()
	}
	return resource.Identity{Name: "wasmres", Version: "0"}
}
