package composite

import (
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// exclusivePrefixes returns those prefixes of a member that no other member's claim overlaps. A URI that begins with
// one of them, as spelled, belongs to the member without further comparison.
func (o *owners) exclusivePrefixes(member int) (exclusive []string) {
	for _, p := range o.bounds[member] {
		if p == literalPrefix(p) && !o.isShared(member, p) {
			exclusive = append(exclusive, p)
		}
	}
	return exclusive
}

// isShared reports whether another member may claim URIs that begin with a prefix.
func (o *owners) isShared(member int, prefix string) bool {
	for uri, owner := range o.resources {
		if owner != member && strings.HasPrefix(uri, prefix) {
			return true
		}
	}
	return slices.ContainsFunc(o.claims, func(c claim) bool {
		head := literalPrefix(c.template.String())
		return c.member != member && (strings.HasPrefix(head, prefix) || strings.HasPrefix(prefix, head))
	})
}

// literalPrefix returns the literal text with which every URI of a template begins: up to the first variable or escape.
func literalPrefix(template string) string {
	if end := strings.IndexAny(template, "{%"); end >= 0 {
		return template[:end]
	}
	return template
}

// ownedByOther reports whether uri belongs to another member. It runs for each entry of a list, so it first compares
// the claims of other members, which seldom match.
func (o *owners) ownedByOther(member int, uri string) bool {
	if hasPrefix(uri, o.exclusive[member]) {
		return false
	}
	uri = abi.FoldURI(uri)
	normal := abi.NormalURI(uri)
	if owner, ok := o.resources[normal]; ok {
		return owner != member
	}
	for i := range o.claims {
		if c := &o.claims[i]; c.member != member && o.matches(c, uri, normal) {
			owner, _ := o.ofSpelled(uri, normal)
			return owner != member
		}
	}
	return false
}
