package auth

import (
	"math/bits"
	"slices"
)

// An access is what several grants permit, by action.
type access [actions]matcher

// A matcher has the patterns of one action. Its zero value matches nothing.
type matcher struct {
	patterns []Pattern
	all      bool // one of them matches every URI
}

// add adds the actions of a grant.
func (a *access) add(g *Grant) {
	for i := range a {
		if g.Actions&(1<<i) != 0 {
			a[i].add(g.URIs)
		}
	}
}

func (m *matcher) add(uris []Pattern) {
	for _, one := range uris {
		if one.compiled != nil {
			m.patterns = append(m.patterns, one)
		}
	}
	m.all = m.all || slices.ContainsFunc(uris, Pattern.isAny)
}

// of returns the matcher of one action.
func (a *access) of(action Action) *matcher { return &a[bits.TrailingZeros8(uint8(action))] }

// isEmpty reports whether nothing is permitted.
func (a *access) isEmpty() bool {
	return !slices.ContainsFunc(a[:], func(m matcher) bool { return len(m.patterns) > 0 })
}

func (m *matcher) match(normal string) bool {
	return m.all || slices.ContainsFunc(m.patterns, func(p Pattern) bool { return p.compiled.Match(normal) })
}

func (m *matcher) mayMatch(head string) bool {
	return m.all || slices.ContainsFunc(m.patterns, func(p Pattern) bool { return p.compiled.MayMatch(head) })
}
