package auth

import (
	"math/bits"

	"github.com/wasmres/wasmres/internal/pathpattern"
)

// An access is what several grants permit, by action. It is immutable.
type access [actions]*pathpattern.Set

// newAccess makes the access of those grants for which is is true.
func newAccess(grants []Grant, is func(*Grant) bool) *access {
	var patterns [actions][]*pathpattern.Pattern
	for at := range grants {
		g := &grants[at]
		if !is(g) {
			continue
		}
		for i := range patterns {
			if g.Actions&(1<<i) != 0 {
				patterns[i] = appendCompiled(patterns[i], g.URIs)
			}
		}
	}
	a := &access{}
	for i := range a {
		a[i] = pathpattern.NewSet(patterns[i])
	}
	return a
}

// appendCompiled appends patterns, but for zero ones, which match nothing.
func appendCompiled(list []*pathpattern.Pattern, uris []Pattern) []*pathpattern.Pattern {
	for _, one := range uris {
		if one.compiled != nil {
			list = append(list, one.compiled)
		}
	}
	return list
}

// of returns the patterns of one action.
func (a *access) of(action Action) *pathpattern.Set { return a[bits.TrailingZeros8(uint8(action))] }

// isEmpty reports whether nothing is permitted.
func (a *access) isEmpty() bool {
	for _, s := range a {
		if !s.IsEmpty() {
			return false
		}
	}
	return true
}
