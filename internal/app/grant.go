package app

import (
	"fmt"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
)

// granted reports, by the name of a capability in manifests, whether a policy grants any of it.
var granted = map[string]func(*policy.Policy) bool{
	policy.CapabilityFS:     func(p *policy.Policy) bool { return len(p.Storage) > 0 },
	policy.CapabilityHTTP:   func(p *policy.Policy) bool { return len(p.Network) > 0 },
	policy.CapabilitySQL:    func(p *policy.Policy) bool { return len(p.SQL) > 0 },
	policy.CapabilityKV:     func(p *policy.Policy) bool { return p.KV != nil },
	policy.CapabilityEnv:    func(p *policy.Policy) bool { return len(p.Environment) > 0 },
	policy.CapabilitySecret: func(p *policy.Policy) bool { return len(p.Secrets) > 0 },
}

// HowToGrant returns the flags that grant a requested capability, with placeholders as FOLDER and VARIABLE for what
// only the operator knows; empty if there is no such capability.
func HowToGrant(asked abi.Capability) string {
	if !policy.Known(asked.Name) {
		return ""
	}
	wanted := approval.RequestedPolicy(&abi.Manifest{Capabilities: []abi.Capability{asked}})
	if asked.Name == policy.CapabilitySecret { // its flags include those for servers
		flags, _ := wanted.Flags()
		return approval.Quote(flags.Args())
	}
	return approval.Quote(approval.FlagsFor(wanted))
}

// Grants reports whether a policy grants any of a capability, by its name in manifests.
func Grants(p *policy.Policy, name string) bool {
	has, known := granted[name]
	return known && has(p)
}

// GrantsAll reports whether a policy grants all that is requested. If the parameters are invalid, any grant is all.
func GrantsAll(p *policy.Policy, asked abi.Capability) bool {
	wanted, err := policy.Requested(asked.Name, asked.Params)
	return Grants(p, asked.Name) && (err != nil || policy.Covers(p, wanted))
}

// Granted returns the grants of the provider. The caller must not change them.
func (a *App) Granted() *policy.Policy { return &a.cfg.Grants }

// Warn logs a warning for the operator.
func (a *App) Warn(text string) { a.cfg.Logger.Warn(text) }

// WarnMissingGrants logs which required capabilities are not granted, unless a denied call was reported within the last
// minute.
func (a *App) WarnMissingGrants() {
	for _, part := range a.parts {
		part.WarnMissingGrants()
	}
	if a.provider == nil || a.denials.any() {
		return
	}
	for _, c := range a.provider.Manifest().Capabilities {
		how := HowToGrant(c)
		if how == "" || c.Optional || Grants(&a.cfg.Grants, c.Name) {
			continue
		}
		asked := c.Name
		if c.Reason != "" {
			asked = fmt.Sprintf("%s (%s)", c.Name, c.Reason)
		}
		a.cfg.Logger.Warn("the provider requests " + asked + ", which is not granted: add " + how)
	}
}
