package host

import (
	"maps"
	"slices"
	"time"

	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
)

// settings are what a snapshot says of a tenant. They are immutable.
type settings struct {
	tenant *tenant.Tenant // nil when there is none any more
	plan   *tenant.Plan
	routes []deployed // of the providers without a Module, in the order of Providers

	stable   []*spec  // the providers to open
	canaries []canary // the versions on trial, one of a provider
	spares   []*spec  // versions to which a rollback would return

	secrets map[tenant.SecretID]*tenant.Secret // of the snapshot; nil once the settings are made
	sealed  map[string]time.Time               // when those that policies name were set, by name; nil for none
}

// isOff reports whether the tenant was removed or disabled.
func (is *settings) isOff() bool { return is.tenant == nil || is.tenant.Disabled }

// A deployed provider is served by versions.
type deployed struct {
	route                    *tenant.Route   // nil before the first
	active, canary, previous *tenant.Version // nil for none
}

// A canary is a version of a provider that is on trial.
type canary struct {
	spec  *spec
	share int // of the clients, in percent
}

// settingsOf returns what a snapshot says of a tenant.
func settingsOf(s *tenant.Snapshot, t *tenant.Tenant) *settings {
	is := &settings{tenant: t, plan: s.PlanOf(t), secrets: s.Secrets}
	defer func() { is.secrets = nil }()
	for i := range t.Providers {
		p := &t.Providers[i]
		if p.Module != "" {
			is.stable = append(is.stable, is.specOf(p, nil))
			continue
		}
		is.addDeployed(s, p)
	}
	return is
}

// addDeployed adds a provider that is served by versions.
func (is *settings) addDeployed(s *tenant.Snapshot, p *tenant.Provider) {
	id := tenant.ProviderID{Tenant: is.tenant.ID, Provider: p.Name}
	d := deployed{route: s.Routes[id]}
	if d.route != nil {
		d.active, d.canary, d.previous = runnable(s, id, d.route.Active), runnable(s, id, d.route.Canary), runnable(s, id, d.route.Previous)
	}
	is.routes = append(is.routes, d)
	if d.active != nil {
		is.stable = append(is.stable, is.specOf(p, d.active))
	}
	if d.canary != nil && d.canary != d.active {
		is.canaries = append(is.canaries, canary{is.specOf(p, d.canary), min(max(d.route.Share, 0), 100)})
	}
	if d.previous != nil {
		is.spares = append(is.spares, is.specOf(p, d.previous))
	}
}

// runnable returns a version that may run; nil if there is none of the number.
func runnable(s *tenant.Snapshot, id tenant.ProviderID, number int) *tenant.Version {
	if v := s.VersionOf(id, number); v != nil && v.IsRunnable() {
		return v
	}
	return nil
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
		s.provider.Policy.Secrets, s.provider.Policy.SQL = withSources(v.Policy.Secrets), withDSNs(v.Policy.SQL)
	}
	s.given = v == nil && is.tenant.Owner == tenant.OwnerAPI
	s.uris = is.tenant.CrashURIs || is.plan.CrashURIs
	s.provider.Engine, s.provider.Shadow = is.plan.Engines(p)
	s.limits = is.plan.LimitsOf(s.provider.Policy.Limits)
	is.noteSealed(s)
	return s
}

// withSources returns secrets of which those without a source, as manifests request them, are the tenant's of the same name.
func withSources(secrets []policy.Secret) []policy.Secret {
	secrets = slices.Clone(secrets)
	for i, s := range secrets {
		if s == (policy.Secret{Name: s.Name}) {
			secrets[i].Sealed = s.Name
		}
	}
	return secrets
}

// withDSNs returns connections of which those without a data source name have the tenant's secret of the same name.
func withDSNs(connections []policy.SQL) []policy.SQL {
	connections = slices.Clone(connections)
	for i, s := range connections {
		if s.DSN+s.DSNEnv+s.DSNFile+s.DSNSealed == "" {
			connections[i].DSNSealed = s.Name
		}
	}
	return connections
}

// noteSealed notes which sealed secrets a provider is opened with, so that others in their place open it anew.
func (is *settings) noteSealed(s *spec) {
	for _, named := range s.provider.Policy.Secrets {
		is.noteOne(s, named.Sealed)
	}
	for _, named := range s.provider.Policy.SQL {
		is.noteOne(s, named.DSNSealed)
	}
}

// noteOne notes the sealed secret of a name; empty for none.
func (is *settings) noteOne(s *spec, name string) {
	if name == "" {
		return
	}
	if s.sealed == nil {
		s.sealed = map[string]time.Time{}
	}
	if is.sealed == nil {
		is.sealed = map[string]time.Time{}
	}
	var changed time.Time // zero for none yet
	if one := is.secrets[tenant.SecretID{Tenant: is.tenant.ID, Name: name}]; one != nil {
		changed = one.Changed
	}
	s.sealed[name], is.sealed[name] = changed, changed
}

// with returns the providers to open for a canary: it stands where the active version of its provider does.
func (is *settings) with(c canary) (specs []*spec) {
	name := c.spec.provider.Name
	for i := range is.tenant.Providers {
		if is.tenant.Providers[i].Name == name {
			specs = append(specs, c.spec)
			continue
		}
		for _, s := range is.stable {
			if s.provider.Name == is.tenant.Providers[i].Name {
				specs = append(specs, s)
			}
		}
	}
	return specs
}

// without returns the settings but for canaries that were taken back, by the names of their providers.
func (is *settings) without(back map[string]takenBack) *settings {
	isBack := func(c canary) bool { return back[c.spec.provider.Name].version == c.spec.version }
	if !slices.ContainsFunc(is.canaries, isBack) {
		return is
	}
	own := *is
	own.canaries = slices.DeleteFunc(slices.Clone(is.canaries), isBack)
	return &own
}

// canaryOf returns the canary of a provider.
func (is *settings) canaryOf(name string) (c canary, ok bool) {
	for _, c := range is.canaries {
		if c.spec.provider.Name == name {
			return c, true
		}
	}
	return canary{}, false
}

// isSame reports whether other settings are of the same values, which are immutable.
func (is *settings) isSame(o *settings) bool {
	return is != nil && is.tenant == o.tenant && is.plan == o.plan && slices.Equal(is.routes, o.routes) && maps.Equal(is.sealed, o.sealed)
}

// isSameProviders reports whether other settings have the same providers and canaries.
func (is *settings) isSameProviders(o *settings) bool {
	return slices.EqualFunc(is.stable, o.stable, (*spec).isSame) &&
		slices.EqualFunc(is.canaries, o.canaries, func(a, b canary) bool { return a.share == b.share && a.spec.isSame(b.spec) })
}

// isOf reports whether settings are those that a snapshot has for a tenant. It is quick, and may say no for equal ones.
func (is *settings) isOf(s *tenant.Snapshot, t *tenant.Tenant) bool {
	return is != nil && is.tenant == t && len(is.routes)+len(is.sealed) == 0 && is.plan == s.PlanOf(t)
}
