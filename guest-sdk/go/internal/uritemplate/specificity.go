// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

package uritemplate

import (
	"bytes"
	"cmp"
)

// What may stand at a position of a template, the most specific first.
const (
	shapeLiteral  = iota // a character
	shapeEnd             // nothing more: beats an expression, which could be absent
	shapePlain           // an expression that stops at reserved characters
	shapeExploded        // the same with an exploded variable, so any number of values
	shapeReserved        // {+…} or {#…}
)

// Compare orders templates by how specific they are: it is negative if a is to
// be tried before b, and 0 only if both are the same string.
//
// The templates are compared position by position, where a character of a
// literal is one position and an expression is one: at the first difference a
// literal character goes before the end of the template, that before an
// expression that stops at reserved characters, that before one of these with
// an exploded variable, that before {+…} and {#…}. It does not matter which
// characters the literals hold. If there is no difference, which means that
// the literals are of equal length too, fewer variables go first; then the
// order is that of the strings.
func Compare(a, b *Template) int {
	return cmp.Or(
		bytes.Compare(a.shape, b.shape),
		cmp.Compare(len(a.vars), len(b.vars)),
		cmp.Compare(a.source, b.source),
	)
}

// shape returns what stands at each position of t, ending with shapeEnd.
func shape(t *Template) []byte {
	var s []byte
	for _, p := range t.parts {
		if p.expr == nil {
			s = append(s, make([]byte, len(p.literal.text))...)
			continue
		}
		kind := byte(shapePlain)
		for _, v := range t.vars[p.expr.first:p.expr.last] {
			if v.explode {
				kind = shapeExploded
			}
		}
		if p.expr.op.reserved {
			kind = shapeReserved
		}
		s = append(s, kind)
	}
	return append(s, shapeEnd)
}
