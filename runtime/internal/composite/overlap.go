package composite

import (
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// exclusivePrefixes returns those prefixes of a member under which no other member claims anything. A URI that begins
// with one of them, as it is spelled, belongs to the member; nothing else needs to be compared.
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

// literalPrefix returns the text with which every URI begins that a template matches, up to the first variable or
// escape.
func literalPrefix(template string) string {
	if end := strings.IndexAny(template, "{%"); end >= 0 {
		return template[:end]
	}
	return template
}

// ownedByOther reports whether uri belongs to another member than this one. It is called for each entry of a list: it
// compares the claims of others first, which seldom match.
func (o *owners) ownedByOther(member int, uri string) bool {
	if hasPrefix(uri, o.exclusive[member]) {
		return false
	}
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
