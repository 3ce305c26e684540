package host

import (
	"context"
	"errors"

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
	spares   []*sharedMember       // open for a rollback
	problems map[string]error      // of canaries that cannot be loaded, by the names of their providers
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
	errs := []error{g.stable.release(), releaseAll(g.spares)}
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
