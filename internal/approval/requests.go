package approval

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/policy"
)

// Requested is one capability that a provider requests.
type Requested struct {
	Capability string `json:"power"` // its name in manifests
	Params     string `json:"params,omitempty"`
	Optional   bool   `json:"optional,omitempty"`
	Reason     string `json:"-"` // the provider's own text, which is not to be trusted
}

// requests returns what a manifest requests.
func requests(m *abi.Manifest) (all []Requested) {
	for _, c := range m.Capabilities {
		all = append(all, Requested{Capability: c.Name, Params: compactJSON(c.Params), Optional: c.Optional, Reason: c.Reason})
	}
	return all
}

// compactJSON returns a JSON text without spaces between its tokens, or text itself if it is not JSON.
func compactJSON(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// policy returns the request as a policy. It reports false when the parameters are invalid; the policy is then that of
// no parameters.
func (a Requested) policy() (requested *policy.Policy, valid bool) {
	requested, err := policy.Requested(a.Capability, a.Params)
	return requested, err == nil
}

// open reports whether the provider leaves all parameters to the operator.
func (a Requested) open() bool { return a.Params == "" || a.Params == "{}" }

// within reports whether a requests no more than one of before.
func (a Requested) within(before []Requested) bool {
	return slices.ContainsFunc(before, func(b Requested) bool {
		if a.Capability != b.Capability {
			return false
		}
		if a.Params == b.Params || b.open() {
			return true
		}
		requested, valid := a.policy()
		had, hadValid := b.policy()
		return valid && hadValid && !a.open() && policy.Covers(had, requested)
	})
}

// coveredBy reports whether p grants what a requests. It reports false when the parameters are invalid.
func (a Requested) coveredBy(p *policy.Policy) bool {
	requested, valid := a.policy()
	return valid && policy.Covers(p, requested)
}

// RequestedPolicy returns what a manifest requests as a policy. It leaves open the values that only the operator knows,
// as a host folder.
func RequestedPolicy(m *abi.Manifest) *policy.Policy { return policyOf(requests(m)) }

// policyOf merges requests into one policy, without invalid parameters. A secret goes with the rules that name it, or
// with the only rule.
func policyOf(requests []Requested) *policy.Policy {
	all := &policy.Policy{}
	for _, a := range requests {
		requested, _ := a.policy()
		all = policy.Merge(all, requested)
	}
	for _, n := range all.Network {
		for _, name := range n.Secrets {
			all = policy.Merge(all, &policy.Policy{Secrets: []policy.Secret{{Name: name}}})
		}
	}
	assignSecrets(all)
	return all
}

// assignSecrets removes secrets that p lacks from its rules. When no rule names a secret, a single rule gets all of
// them, as with flags.
func assignSecrets(p *policy.Policy) {
	has := func(name string) bool {
		return slices.ContainsFunc(p.Secrets, func(s policy.Secret) bool { return s.Name == name })
	}
	named := false
	for i := range p.Network {
		n := &p.Network[i]
		n.Secrets = slices.DeleteFunc(slices.Clone(n.Secrets), func(name string) bool { return !has(name) })
		named = named || len(n.Secrets) > 0
	}
	if named || len(p.Network) != 1 {
		return
	}
	for _, s := range p.Secrets {
		if s.Name != "" {
			p.Network[0].Secrets = append(p.Network[0].Secrets, s.Name)
		}
	}
}

// Difference says which capabilities a version of a provider requests that the one before did not, and which only that did,
// a line each, escaped for a terminal.
func Difference(before, after *abi.Manifest) (more, less []string) {
	old, now := requests(before), requests(after)
	return beyond(now, old), beyond(old, now)
}

// beyond describes those of some requests that are not within others.
func beyond(some, others []Requested) (lines []string) {
	for _, a := range some {
		if a.within(others) {
			continue
		}
		for _, line := range a.lines() {
			lines = append(lines, escapeAll(line))
		}
	}
	return lines
}
