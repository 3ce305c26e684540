package clientconfig

import "slices"

// A kind is the kind of a node.
type kind int

const (
	other  kind = iota // a number, true, false, null or a date: text is its literal
	text               // text is the string
	list               // items
	object             // items, each with a name
)

// A node is a value of a configuration, without its comments and layout.
type node struct {
	kind  kind
	text  string
	items []*node
	names []string // of the items of an object, in the order of the file
	line  int      // on which the value begins, from 1; 0 if unknown
}

// get returns the value of a name; nil if n is no object or has no such name.
func (n *node) get(name string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	if i := slices.Index(n.names, name); i >= 0 {
		return n.items[i]
	}
	return nil
}

// without returns a copy of an object that lacks a name.
func (n *node) without(name string) *node {
	c := &node{kind: object, line: n.line}
	for i, have := range n.names {
		if have != name {
			c.names, c.items = append(c.names, have), append(c.items, n.items[i])
		}
	}
	return c
}

// isEmpty reports whether n has no servers: it is missing, nothing, or an object without names.
func (n *node) isEmpty() bool {
	return n == nil || n.kind == object && len(n.names) == 0 || n.kind == other && n.text == "null"
}

// equal reports whether two values are the same. The order of names counts.
func equal(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.kind == b.kind && a.text == b.text && slices.Equal(a.names, b.names) && slices.EqualFunc(a.items, b.items, equal)
}

// sameEntry reports whether two objects have the same names and values, in any order.
func sameEntry(a, b *node) bool {
	if a == nil || b == nil || len(a.names) != len(b.names) {
		return false
	}
	for i, name := range a.names {
		if !equivalent(a.items[i], b.get(name)) {
			return false
		}
	}
	return true
}

// equivalent is equal, but the order of names does not count on the first level.
func equivalent(a, b *node) bool {
	if a != nil && b != nil && a.kind == object && b.kind == object {
		return sameEntry(a, b)
	}
	return equal(a, b)
}

// A field is a name and a value of an entry: a string, bool, int, []string or map of strings.
type field struct {
	name    string
	value   any
	initial bool // only a new entry gets it: afterwards it is the user's
}

// nodeOf returns a field's value as it is in a file.
func nodeOf(value any) *node {
	switch v := value.(type) {
	case string:
		return &node{kind: text, text: v}
	case []string:
		n := &node{kind: list}
		for _, s := range v {
			n.items = append(n.items, nodeOf(s))
		}
		return n
	case map[string]string:
		n := &node{kind: object}
		for _, name := range sortedNames(v) {
			n.names, n.items = append(n.names, name), append(n.items, nodeOf(v[name]))
		}
		return n
	}
	return &node{kind: other, text: literal(value)}
}
