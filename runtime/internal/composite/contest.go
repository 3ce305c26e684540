package composite

import (
	"slices"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// sureOf gives those prefixes a member keeps to under which nobody else claims anything: what begins with one of them,
// as it is spelled, is the member's own without a closer look.
func (o *owners) sureOf(member int) (sure []string) {
	for _, p := range o.bounds[member] {
		if p == plainHead(p) && !o.isContested(member, p) {
			sure = append(sure, p)
		}
	}
	return sure
}

// isContested reports whether anybody but member may claim something that begins with a prefix.
func (o *owners) isContested(member int, prefix string) bool {
	for uri, owner := range o.resources {
		if owner != member && strings.HasPrefix(uri, prefix) {
			return true
		}
	}
	return slices.ContainsFunc(o.claims, func(c claim) bool {
		head := plainHead(c.template.String())
		return c.member != member && (strings.HasPrefix(head, prefix) || strings.HasPrefix(prefix, head))
	})
}

// plainHead gives what every URI that a template matches begins with, up to what may be spelled in another way.
func plainHead(template string) string {
	if end := strings.IndexAny(template, "{%"); end >= 0 {
		return template[:end]
	}
	return template
}

// isForeign reports whether uri belongs to somebody else than member. It is asked of each entry of a list, so that it
// looks first at what others claim, which tends to be nothing alike.
func (o *owners) isForeign(member int, uri string) bool {
	if hasPrefix(uri, o.sure[member]) {
		return false
	}
	normal := abi.NormalURI(uri)
	if owner, ok := o.resources[normal]; ok {
		return owner != member
	}
	for i := range o.claims {
		if c := &o.claims[i]; c.member != member && o.meets(c, uri, normal) {
			owner, _ := o.of(uri)
			return owner != member
		}
	}
	return false
}
