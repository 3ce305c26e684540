package policy

import (
	"maps"
	"slices"
)

// Merge returns a policy that permits what p permits and what more permits. Where they differ, as in a limit or the
// source of a secret, more wins, as flags win over a file.
func Merge(p, more *Policy) *Policy {
	m := p.clone()
	if more.Description != "" {
		m.Description = more.Description
	}
	override(&m.Engine, more.Engine)
	more = more.clone()
	m.Storage = mergeBy(m.Storage, more.Storage, func(s Storage) string { return s.Guest })
	m.Network = append(m.Network, more.Network...)
	m.Secrets = mergeBy(m.Secrets, more.Secrets, func(s Secret) string { return s.Name })
	m.SQL = mergeBy(m.SQL, more.SQL, func(s SQL) string { return s.Name })
	for _, key := range more.Environment {
		if !slices.Contains(m.Environment, key) {
			m.Environment = append(m.Environment, key)
		}
	}
	if m.Config == nil {
		m.Config = more.Config
	} else {
		maps.Copy(m.Config, more.Config)
	}
	if more.KV != nil {
		m.KV = more.KV
	}
	m.Limits = mergeLimits(m.Limits, more.Limits)
	return m
}

// mergeBy replaces the entries that have the name of one of more, and appends the rest of more.
func mergeBy[T any](entries, more []T, name func(T) string) []T {
	for _, e := range more {
		i := slices.IndexFunc(entries, func(old T) bool { return name(old) == name(e) })
		if i < 0 {
			entries = append(entries, e)
			continue
		}
		entries[i] = e
	}
	return entries
}

func mergeLimits(l, more Limits) Limits {
	override(&l.MilliCPU, more.MilliCPU)
	override(&l.Memory, more.Memory)
	override(&l.Fuel, more.Fuel)
	override(&l.Timeout, more.Timeout)
	override(&l.Output, more.Output)
	override(&l.Stack, more.Stack)
	override(&l.Log, more.Log)
	return l
}

func override[T comparable](into *T, v T) {
	var zero T
	if v != zero {
		*into = v
	}
}

// clone returns a copy that shares nothing with p.
func (p *Policy) clone() *Policy {
	c := *p
	c.Storage, c.Environment = slices.Clone(p.Storage), slices.Clone(p.Environment)
	c.Secrets, c.SQL, c.Config = slices.Clone(p.Secrets), slices.Clone(p.SQL), maps.Clone(p.Config)
	c.Network = slices.Clone(p.Network)
	for i := range c.Network {
		n := &c.Network[i]
		n.Schemes, n.Ports, n.Methods = slices.Clone(n.Schemes), slices.Clone(n.Ports), slices.Clone(n.Methods)
		n.Paths, n.Secrets = slices.Clone(n.Paths), slices.Clone(n.Secrets)
	}
	if p.KV != nil {
		kv := *p.KV
		c.KV = &kv
	}
	return &c
}
