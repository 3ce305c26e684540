// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

package uritemplate

import "slices"

// Bounds on what Parse and Match accept.
const (
	maxTemplate    = 2048    // bytes
	maxExpressions = 32      // in one template
	maxVariables   = 64      // in one template
	maxURI         = 8 << 10 // bytes; a longer URI matches nothing
	maxValues      = 1024    // of one match; a URI with more matches nothing
)

// A Template is a parsed URI template. It is immutable, and safe for
// concurrent use.
type Template struct {
	source  string
	parts   []part
	vars    []variable
	classes []class        // distinct; parts and variables refer to them by index
	keys    map[string]int // normal form of a named variable's name to its index
	head    string         // ASCII that every matching URI begins with, if not escaped
	shape   []byte         // see Compare
}

// A part is a literal or, if expr is not nil, an expression.
type part struct {
	literal literal
	expr    *expression
}

// An expression is what stands between braces.
type expression struct {
	op          operator
	first, last int // its variables are Template.vars[first:last]
	marker, sep int // classes of op.marker (if there is one) and op.sep
}

// A variable is one varspec of an expression.
type variable struct {
	name    string
	part    int  // index of its expression in Template.parts
	limit   int  // most characters of a value; 0 means unlimited
	explode bool // has the modifier "*"
	list    byte // separates the elements of a list value; 0 if never a list
	class   int  // the characters of a value, and of its list separator
}

// An operator says how an expression expands (RFC 6570 appendix A).
type operator struct {
	marker   byte // stands before the first value; 0 means nothing does
	sep      byte // stands between two values
	named    bool // values come as name=value
	reserved bool // values may hold reserved characters
}

// operatorOf returns the operator an expression begins with; ok is false if c
// is none, and the expression is a simple one.
func operatorOf(c byte) (op operator, ok bool) {
	switch c {
	case '+':
		return operator{sep: ',', reserved: true}, true
	case '#':
		return operator{marker: '#', sep: ',', reserved: true}, true
	case '.', '/':
		return operator{marker: c, sep: c}, true
	case ';', '&':
		return operator{marker: c, sep: c, named: true}, true
	case '?':
		return operator{marker: '?', sep: '&', named: true}, true
	}
	return operator{sep: ','}, false
}

// String returns the template as it was given to Parse.
func (t *Template) String() string { return t.source }

// Variables returns the names of the variables in the order of the template.
func (t *Template) Variables() []string {
	names := make([]string, len(t.vars))
	for i, v := range t.vars {
		names[i] = v.name
	}
	return names
}

// finish computes everything Match and Compare want to know beforehand.
func (t *Template) finish() {
	query, fragment := false, false // one stands later in the template
	for i := len(t.parts) - 1; i >= 0; i-- {
		p := t.parts[i]
		if p.expr == nil {
			query = query || slices.Contains(p.literal.text, '?')
			fragment = fragment || slices.Contains(p.literal.text, '#')
			continue
		}
		t.classify(p.expr, query, fragment)
		query = query || p.expr.op.marker == '?'
		fragment = fragment || p.expr.op.marker == '#'
	}
	t.head = head(t.parts[0].literal.text)
	t.shape = shape(t)
}

// classify chooses the characters of each value of e.
func (t *Template) classify(e *expression, query, fragment bool) {
	base := unreserved
	if e.op.reserved {
		base = base.with(reservedChars)
	}
	if e.op.reserved && e.op.marker == 0 && query {
		base = base.without('?')
	}
	if e.op.reserved && e.op.marker == 0 && fragment {
		base = base.without('#')
	}
	if e.op.marker == '?' || e.op.marker == '&' {
		base = base.with(queryChars)
	}
	for i := e.first; i < e.last; i++ {
		v, c := &t.vars[i], base
		switch {
		case e.op.named && v.limit == 0:
			v.list, c = ',', c.with(",")
		case e.op.named: // a prefix of a list means nothing
		case v.explode:
			v.list, c = e.op.sep, c.with(string(e.op.sep))
		case e.last-e.first > 1:
			c = c.without(e.op.sep)
		}
		v.class = t.classIndex(c)
	}
	e.sep = t.classIndex(class{}.with(string(e.op.sep)))
	if e.op.marker != 0 {
		e.marker = t.classIndex(class{}.with(string(e.op.marker)))
	}
}

// classIndex returns the index of c in t.classes, where it puts c if need be.
func (t *Template) classIndex(c class) int {
	if i := slices.Index(t.classes, c); i >= 0 {
		return i
	}
	t.classes = append(t.classes, c)
	return len(t.classes) - 1
}
