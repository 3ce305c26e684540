package host

import (
	"slices"

	"github.com/wasmres/wasmres/internal/tenant"
)

// settings are what a snapshot says of a tenant. They are immutable.
type settings struct {
	tenant *tenant.Tenant // nil when there is none any more
	plan   *tenant.Plan
	routes []deployed // of the providers without a Module, in the order of Providers

	stable []*spec // the providers to open
}

// A deployed provider is served by versions.
type deployed struct {
	route  *tenant.Route   // nil before the first
	active *tenant.Version // nil for none
}

// settingsOf returns what a snapshot says of a tenant.
func settingsOf(s *tenant.Snapshot, t *tenant.Tenant) *settings {
	is := &settings{tenant: t, plan: planOf(s, t)}
	for i := range t.Providers {
		p := &t.Providers[i]
		if p.Module != "" {
			is.stable = append(is.stable, is.specOf(p, nil))
			continue
		}
		id := tenant.ProviderID{Tenant: t.ID, Provider: p.Name}
		d := deployed{route: s.Routes[id]}
		if d.route != nil {
			d.active = s.VersionOf(id, d.route.Active)
		}
		if d.active != nil {
			is.stable = append(is.stable, is.specOf(p, d.active))
		}
		is.routes = append(is.routes, d)
	}
	return is
}

// serves reports whether there is a module for the provider of a name.
func (is *settings) serves(name string) bool {
	return slices.ContainsFunc(is.stable, func(s *spec) bool { return s.provider.Name == name })
}

// specOf returns how to open a provider, by a version of it unless that is nil.
func (is *settings) specOf(p *tenant.Provider, v *tenant.Version) *spec {
	s := &spec{provider: *p}
	if v != nil {
		s.provider.Digest, s.provider.Policy, s.version = v.Digest, v.Policy, v.Number
	}
	s.limits = limitsOf(&s.provider, is.plan)
	return s
}

// isSame reports whether other settings are of the same values, which are immutable.
func (is *settings) isSame(o *settings) bool {
	return is != nil && is.tenant == o.tenant && is.plan == o.plan && slices.Equal(is.routes, o.routes)
}

// isSameProviders reports whether the providers of other settings are the same.
func (is *settings) isSameProviders(o *settings) bool {
	return slices.EqualFunc(is.stable, o.stable, (*spec).isSame)
}

// planOf returns the plan of a tenant.
func planOf(s *tenant.Snapshot, t *tenant.Tenant) *tenant.Plan {
	if p := s.Plans[t.Plan]; p != nil {
		return p
	}
	if p := s.Plans[tenant.DefaultPlan]; p != nil {
		return p
	}
	return &tenant.Plan{Name: tenant.DefaultPlan}
}
