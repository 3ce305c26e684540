package deploy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/internal/tenant"
)

// checkPolicy refuses what a version of a tenant may never do, even with an approval. What the file of the operator covers passes.
func checkPolicy(at *place, p *policy.Policy) error {
	if err := at.plan.Permits(p); err != nil {
		return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
	}
	if isClosed(p) && policy.Covers(&at.provider.Policy, p) {
		return nil
	}
	if err := tenant.CheckHosted(p, at.files); err != nil {
		return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
	}
	return nil
}

// isClosed reports whether a policy names all hosts, folders, secrets and connections. The sources of the last two are what the
// tenant keeps sealed by these names.
func isClosed(p *policy.Policy) bool {
	return !slices.ContainsFunc(p.Storage, func(s policy.Storage) bool { return s.Host == "" || s.Guest == "" }) &&
		!slices.ContainsFunc(p.Network, func(n policy.Network) bool { return n.Host == "" }) &&
		!slices.ContainsFunc(p.Secrets, func(s policy.Secret) bool { return s.Name == "" }) &&
		!slices.ContainsFunc(p.SQL, func(s policy.SQL) bool { return s.Name == "" }) &&
		!slices.Contains(p.Environment, "")
}

// policyFor returns the policy of a version: what was named for it, or what its manifest requests. Where a manifest leaves
// open what only an operator knows, as a folder, it is the policy of the provider or of the active version, if that covers
// the request. Else what is optional and left open is left out. The error says why there is none.
func policyFor(at *place, v *tenant.Version, m *abi.Manifest) (*policy.Policy, error) {
	if v.HasPolicy {
		p := v.Policy
		return &p, checkPolicy(at, &p)
	}
	asked := approval.RequestedPolicy(m)
	if policy.Covers(&at.provider.Policy, asked) {
		p := at.provider.Policy
		return &p, nil
	}
	if at.active != nil && policy.Covers(&at.active.Policy, asked) {
		p := at.active.Policy
		return &p, checkActive(at, &p)
	}
	if !isClosed(asked) {
		asked = approval.RequestedPolicy(withoutOptional(m))
	}
	asked.Config, asked.Limits = maps.Clone(at.provider.Policy.Config), at.provider.Policy.Limits
	if !isClosed(asked) {
		return nil, fmt.Errorf("%w: the provider requests what only you can name, as a folder or a secret: push it with a policy (--policy), "+
			"or have the operator grant it in the provider's policy", tenant.ErrInvalid)
	}
	return asked, checkPolicy(at, asked)
}

// withoutOptional returns a manifest with those capabilities alone without which the provider does not work.
func withoutOptional(m *abi.Manifest) *abi.Manifest {
	needs := *m
	needs.Capabilities = slices.DeleteFunc(slices.Clone(m.Capabilities), func(c abi.Capability) bool { return c.Optional })
	return &needs
}

// checkActive refuses a policy of the active version that the plan does not permit any more.
func checkActive(at *place, p *policy.Policy) error {
	if err := at.plan.Permits(p); err != nil {
		return fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
	}
	return nil
}

// approvedBy says by what a policy was approved in advance; empty if it was not.
func approvedBy(at *place, p *policy.Policy) string {
	switch {
	case p.Empty():
		return "nothing to approve: it asks for nothing"
	case !isClosed(p):
		return ""
	case policy.Covers(&at.provider.Policy, p):
		return "policy set for the provider"
	case at.active != nil && policy.Covers(&at.active.Policy, p):
		return fmt.Sprintf("policy of version %d", at.active.Number)
	}
	return ""
}
