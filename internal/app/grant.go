package app

import (
	"fmt"

	"github.com/wasmres/wasmres/internal/policy"
)

// A power is one that manifests ask for, and how it is granted.
type power struct {
	name    string // as manifests call it
	flag    string
	granted func(*policy.Policy) bool
}

var powers = []power{
	{"fs", "--dir FOLDER:/path", func(p *policy.Policy) bool { return len(p.Storage) > 0 }},
	{"http", "--net https://HOST", func(p *policy.Policy) bool { return len(p.Network) > 0 }},
	{"sql", "--sql NAME=DSN", func(p *policy.Policy) bool { return len(p.SQL) > 0 }},
	{"kv", "--kv", func(p *policy.Policy) bool { return p.KV != nil }},
	{"env", "--env NAME", func(p *policy.Policy) bool { return len(p.Environment) > 0 }},
	{"secret", "--secret NAME=env:VARIABLE", func(p *policy.Policy) bool { return len(p.Secrets) > 0 }},
}

// HowToGrant gives the flag that grants a power; empty when there is no such power.
func HowToGrant(name string) string {
	for _, p := range powers {
		if p.name == name {
			return p.flag
		}
	}
	return ""
}

// Grants reports whether a policy has something of a power that manifests call so.
func Grants(p *policy.Policy, name string) bool {
	for _, one := range powers {
		if one.name == name {
			return one.granted(p)
		}
	}
	return false
}

// Granted is what the provider may touch. It must not be changed.
func (a *App) Granted() *policy.Policy { return &a.cfg.Grants }

// WarnUngranted logs what the provider says it cannot do without and was not granted.
func (a *App) WarnUngranted() {
	for _, c := range a.provider.Module().Manifest().Capabilities {
		for _, p := range powers {
			if p.name != c.Name || c.Optional || p.granted(&a.cfg.Grants) {
				continue
			}
			asked := c.Name
			if c.Reason != "" {
				asked = fmt.Sprintf("%s (%s)", c.Name, c.Reason)
			}
			a.cfg.Logger.Warn("the provider asks for " + asked + " and nothing is granted: add " + p.flag)
		}
	}
}
