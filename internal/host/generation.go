package host

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/rollout"
	"github.com/wasmres/wasmres/runtime"
	"github.com/wasmres/wasmres/runtime/resource"
)

// A generation is the providers of a tenant, as one version of its configuration has them. It is a [runtime.Replacement].
type generation struct {
	stable   *sharedSet
	canaries map[string]*sharedSet // by the name of the provider of which a version is on trial
	picks    *rollout.Source       // nil without canaries
	problems map[string]error      // of canaries that cannot be loaded, by the names of their providers

	mu     sync.Mutex
	spares []*sharedMember // open for a rollback; guarded by mu
	closed bool            // guarded by mu
}

var _ runtime.Marked = (*generation)(nil)

// Source implements [runtime.Replacement].
func (g *generation) Source() resource.Source {
	if g.picks != nil {
		return g.picks
	}
	return g.stable.value.source
}

// Mark implements [runtime.Marked].
func (g *generation) Mark(ctx context.Context, uri abi.URI) any {
	if g.picks != nil {
		if name, ok := g.picks.Pick(ctx); ok {
			return g.canaries[name].value.mark(uri)
		}
	}
	return g.stable.value.mark(uri)
}

// Close implements [runtime.Replacement]. Providers that another generation has stay open.
func (g *generation) Close() error {
	g.mu.Lock()
	g.closed = true
	errs := []error{g.stable.release(), releaseAll(g.spares)}
	g.mu.Unlock()
	for _, s := range g.canaries {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}

// openGeneration opens the providers that the tenant is to have and has not open yet. A canary that cannot be loaded is one of
// its problems, and no error.
func (r *route) openGeneration(ctx context.Context, is *settings) (*generation, error) {
	r.quotaOf(is)
	stable, err := r.openSet(ctx, is.stable)
	if err != nil {
		return nil, err
	}
	g := &generation{stable: stable, canaries: map[string]*sharedSet{}, problems: map[string]error{}}
	var canaries []rollout.Canary
	for _, c := range is.canaries {
		name := c.spec.provider.Name
		opened, err := r.openSet(ctx, is.with(c))
		if err != nil {
			g.problems[name] = err
			continue
		}
		g.canaries[name] = opened
		canaries = append(canaries, rollout.Canary{
			Provider: name, Version: c.spec.version, Share: c.share, Source: opened.value.source, Trial: r.trial(c.spec),
		})
	}
	if len(canaries) > 0 {
		if g.picks, err = rollout.New(stable.value.source, canaries...); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	for _, s := range is.spares {
		if m := r.members.find(s); m != nil {
			g.spares = append(g.spares, m)
		}
	}
	return g, nil
}

// openSpares opens those versions that are not open yet to which a rollback would return, for as long as a generation serves: a
// rollback is not to wait until a module is loaded. They start no process.
func (r *route) openSpares(is *settings, g *generation) {
	ctx, cancel := r.openingContext()
	defer cancel()
	for _, s := range is.spares {
		if !g.lacks(s) {
			continue
		}
		m, err := r.members.acquire(s, func() (*member, error) { return r.openMember(ctx, s) })
		if err == nil {
			err = g.keep(m)
		}
		if err != nil && ctx.Err() == nil {
			r.host.cfg.Logger.Warn("version for a rollback not opened", "tenant", r.id, "provider", s.provider.Name, "version", s.version, "err", err)
		}
	}
}

// lacks reports whether a version is not open for a rollback, and could be.
func (g *generation) lacks(s *spec) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.closed && !slices.ContainsFunc(g.spares, func(m *sharedMember) bool { return m.key.isSame(s) })
}

// keep keeps a version open until the generation is closed. It releases it if that is closed already.
func (g *generation) keep(m *sharedMember) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return m.release()
	}
	g.spares = append(g.spares, m)
	return nil
}
