package approval

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/policy"
)

// An AskedFor is one power a provider asks for.
type AskedFor struct {
	Power    string `json:"power"` // as manifests call it
	Params   string `json:"params,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Reason   string `json:"-"` // in the provider's own words, which prove nothing
}

// asksOf gives what a manifest asks for.
func asksOf(m *abi.Manifest) (asks []AskedFor) {
	for _, c := range m.Capabilities {
		asks = append(asks, AskedFor{Power: c.Name, Params: canonical(c.Params), Optional: c.Optional, Reason: c.Reason})
	}
	return asks
}

// canonical gives a JSON text without spaces between its words.
func canonical(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// wants gives what is asked for as a policy. clear is false when the parameters make no sense to us.
func (a AskedFor) wants() (wanted *policy.Policy, clear bool) {
	wanted, err := policy.Requested(a.Power, a.Params)
	return wanted, err == nil
}

// open reports whether the provider leaves to the operator what of a power it needs.
func (a AskedFor) open() bool { return a.Params == "" || a.Params == "{}" }

// within reports whether a asks for no more than was asked for before.
func (a AskedFor) within(before []AskedFor) bool {
	return slices.ContainsFunc(before, func(b AskedFor) bool {
		if a.Power != b.Power {
			return false
		}
		if a.Params == b.Params || b.open() {
			return true
		}
		wanted, clear := a.wants()
		had, hadClear := b.wants()
		return clear && hadClear && !a.open() && policy.Covers(had, wanted)
	})
}

// coveredBy reports whether p grants what is asked for. What makes no sense to us is not.
func (a AskedFor) coveredBy(p *policy.Policy) bool {
	wanted, clear := a.wants()
	return clear && policy.Covers(p, wanted)
}

// Wanted gives what a manifest asks for as a policy, which leaves open what only the operator knows, as the folder of
// the host.
func Wanted(m *abi.Manifest) *policy.Policy { return wishes(asksOf(m)) }

// wishes puts together what all of them ask for, but for what makes no sense to us. Secrets go with the rules that name
// them, or else with the one rule there is.
func wishes(asks []AskedFor) *policy.Policy {
	all := &policy.Policy{}
	for _, a := range asks {
		wanted, _ := a.wants()
		all = policy.Merge(all, wanted)
	}
	for _, n := range all.Network {
		for _, name := range n.Secrets {
			all = policy.Merge(all, &policy.Policy{Secrets: []policy.Secret{{Name: name}}})
		}
	}
	carry(all)
	return all
}

// carry has rules name the secrets there are. What no rule names goes with the one rule there is, as with flags.
func carry(p *policy.Policy) {
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
