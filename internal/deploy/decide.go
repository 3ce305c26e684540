package deploy

import (
	"context"
	"fmt"

	"github.com/wasmres/wasmres/internal/tenant"
)

// Approve approves a version that waits, and does what its deployer has asked for then. An approval of an approved version
// changes nothing.
func (d *Deployer) Approve(ctx context.Context, id tenant.ProviderID, number int, actor string) error {
	return d.settle(ctx, id, number, func(s *tenant.Snapshot, v *tenant.Version) (*tenant.Change, error) {
		switch {
		case v.State == tenant.StateApproved:
			return nil, nil
		case v.State != tenant.StateWaiting:
			return nil, fmt.Errorf("%w: %s is %s, and only one that is waiting can be approved", ErrState, v.Name(), v.State)
		}
		at, err := d.placeOf(s, id)
		if err != nil {
			return nil, err
		}
		if err := checkNow(at, v); err != nil {
			return nil, err
		}
		next := *v
		return d.approved(s, &next, actor, actor), nil
	})
}

// Reject has a version never run. It must not have been approved.
func (d *Deployer) Reject(ctx context.Context, id tenant.ProviderID, number int, reason, actor string) error {
	return d.settle(ctx, id, number, func(_ *tenant.Snapshot, v *tenant.Version) (*tenant.Change, error) {
		switch {
		case v.State == tenant.StateRejected:
			return nil, nil
		case v.State != tenant.StateWaiting && !v.IsUnderWay():
			return nil, fmt.Errorf("%w: %s is %s, and only one that is not decided can be rejected", ErrState, v.Name(), v.State)
		}
		next := *v
		next.State, next.Reason, next.Decided, next.Decider = tenant.StateRejected, reasonOf(reason), d.cfg.Now().UTC(), actor
		return &tenant.Change{Actor: actor, SetVersions: []*tenant.Version{&next}}, nil
	})
}

// Promote makes a version the active one, and ends the canary.
func (d *Deployer) Promote(ctx context.Context, id tenant.ProviderID, number int, actor string, mayChange func(*tenant.Route) error) error {
	return d.route(ctx, id, actor, mayChange, nil, func(_ *tenant.Snapshot, r *tenant.Route) error {
		promote(r, number)
		return nil
	})
}

// Rollback ends the canary, if there is one, or else returns to the version that was active before. Clients are there at once, and it
// returns when that is stored; after an error they are where the stored route has them.
func (d *Deployer) Rollback(ctx context.Context, id tenant.ProviderID, actor string, mayChange func(*tenant.Route) error) error {
	undo := func() {}
	ahead := func(s *tenant.Snapshot, next *tenant.Route) { undo = d.cfg.Ahead(s, next) }
	err := d.route(ctx, id, actor, mayChange, ahead, func(_ *tenant.Snapshot, r *tenant.Route) error {
		switch {
		case r.Canary != 0:
			endCanary(r)
		case r.Previous == 0:
			return fmt.Errorf("%w: %s has no version to return to", ErrState, id)
		default:
			r.Active, r.Previous = r.Previous, r.Active
		}
		return nil
	})
	if err != nil {
		undo()
	}
	return err
}

// SetRoute sets which versions serve.
func (d *Deployer) SetRoute(ctx context.Context, id tenant.ProviderID, active, canary, share int, actor string, mayChange func(*tenant.Route) error) error {
	return d.route(ctx, id, actor, mayChange, nil, func(_ *tenant.Snapshot, r *tenant.Route) error {
		if active != r.Active {
			r.Previous = r.Active
		}
		r.Active, r.Canary, r.Share, r.PromoteAfter = active, canary, share, 0
		return nil
	})
}

// route changes the route of a provider. mayChange refuses a route that is not as its caller has seen it; nil refuses none. ahead
// gets each route that is about to be stored; nil discards.
func (d *Deployer) route(
	ctx context.Context, id tenant.ProviderID, actor string, mayChange func(*tenant.Route) error, ahead func(*tenant.Snapshot, *tenant.Route),
	do func(*tenant.Snapshot, *tenant.Route) error,
) error {
	defer d.wantTidy()
	return d.change(ctx, func(s *tenant.Snapshot) (*tenant.Change, error) {
		if _, err := d.placeOf(s, id); err != nil {
			return nil, err
		}
		r := tenant.Route{Tenant: id.Tenant, Provider: id.Provider}
		if old := s.Routes[id]; old != nil {
			r = *old
		}
		if mayChange != nil {
			if err := mayChange(s.Routes[id]); err != nil {
				return nil, err
			}
		}
		was := r
		if err := do(s, &r); err != nil {
			return nil, err
		}
		for _, number := range []int{r.Active, r.Canary} {
			if err := mayRun(s, id, number); err != nil {
				return nil, err
			}
		}
		if r == was {
			return nil, nil
		}
		r.Changed, r.Changer = d.cfg.Now().UTC(), actor
		if ahead != nil {
			ahead(s, &r)
		}
		return &tenant.Change{Actor: actor, SetRoutes: []*tenant.Route{&r}, SetVersions: trustedAgain(s, &r)}, nil
	})
}

// trustedAgain are the versions of a route that had failed: who puts them there trusts them again.
func trustedAgain(s *tenant.Snapshot, r *tenant.Route) (all []*tenant.Version) {
	for _, number := range []int{r.Active, r.Canary} {
		if v := s.VersionOf(r.ID(), number); v != nil && v.State == tenant.StateFailed {
			next := *v
			next.State, next.Reason = tenant.StateApproved, ""
			all = append(all, &next)
		}
	}
	return all
}

// mayRun refuses a version of a route that does not exist or must not run; 0 is none.
func mayRun(s *tenant.Snapshot, id tenant.ProviderID, number int) error {
	if number == 0 {
		return nil
	}
	v := s.VersionOf(id, number)
	switch {
	case v == nil:
		return fmt.Errorf("%w: %s@%d", ErrNoVersion, id, number)
	case !v.IsRunnable():
		return fmt.Errorf("%w: %s is %s: only an approved version can serve", ErrState, v.Name(), v.State)
	}
	return nil
}

// settle changes one version.
func (d *Deployer) settle(
	ctx context.Context, id tenant.ProviderID, number int, do func(*tenant.Snapshot, *tenant.Version) (*tenant.Change, error),
) error {
	defer d.wantTidy()
	return d.change(ctx, func(s *tenant.Snapshot) (*tenant.Change, error) {
		v := s.VersionOf(id, number)
		if v == nil {
			return nil, fmt.Errorf("%w: %s@%d", ErrNoVersion, id, number)
		}
		return do(s, v)
	})
}
