// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

package uritemplate

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Value is what one variable, or one element of a list, stood for.
type Value struct {
	Name  string // as the template spells it
	Value string // percent-decoded
}

// Match returns the values that uri gives the variables of t, in the order of
// the template, and whether it matches at all. A variable that is absent has
// no Value; a list has one for each element, in the order of the URI.
//
// A URI of more than 8 KiB never matches, nor does one of more than 1024
// values. The package comment says how a URI is dealt out and what it costs.
func (t *Template) Match(uri string) ([]Value, bool) {
	if len(uri) > maxURI || !hasHead(uri, t.head) {
		return nil, false
	}
	m := newMatch(t, uri)
	if !m.reach() {
		return nil, false
	}
	m.deal()
	return m.values()
}

// A match is one run of Match: reach goes through the template forwards and
// notes which positions of the URI it can be at, deal goes back and chooses.
type match struct {
	// Fixed at creation.
	t       *Template
	uri     string
	text    []symbol // uri in normal form
	classes []bitset // as t.classes

	// Filled by reach. reached[i] is where part i may begin; begins and ends
	// are where a value may, for each variable of an expression without names.
	reached      []bitset
	begins, ends []bitset
	scratch      bitset
	pairs        [][]pair // of each part; only if the template has named variables

	// Filled by deal, last to first, with one more than maxValues at most.
	captures []capture
}

// A capture is text[begin:end], the value of a variable.
type capture struct{ variable, begin, end int }

func newMatch(t *Template, uri string) *match {
	m := &match{t: t, uri: uri, text: symbols(uri)}
	size := words(len(m.text))
	reached, vars := len(t.parts)+1, len(t.vars)
	sets := make([]bitset, reached+2*vars+len(t.classes)+1)
	arena := make(bitset, size*len(sets))
	for i := range sets {
		sets[i], arena = arena[:size:size], arena[size:]
	}
	m.reached, sets = sets[:reached], sets[reached:]
	m.begins, sets = sets[:vars], sets[vars:]
	m.ends, sets = sets[:vars], sets[vars:]
	m.scratch, m.classes = sets[0], sets[1:]
	for c := range t.classes {
		m.classes[c].fill(&t.classes[c], m.text)
	}
	return m
}

// fill sets s to the positions of c in text.
func (s bitset) fill(c *class, text []symbol) {
	for i, x := range text {
		if c.has(x) {
			s.set(i)
		}
	}
}

// reach computes m.reached and reports whether the template reaches the end.
func (m *match) reach() bool {
	m.reached[0].set(0)
	if len(m.t.keys) > 0 {
		m.findPairs()
	}
	for i := range m.t.parts {
		p, from, to := &m.t.parts[i], m.reached[i], m.reached[i+1]
		switch {
		case p.expr == nil && i == 0:
			if p.literal.begins(m.text) {
				to.set(len(p.literal.text))
			}
		case p.expr == nil:
			p.literal.advance(m.text, from, to)
		case p.expr.op.named:
			m.reachPairs(i, from, to)
		default:
			m.reachValues(p.expr, from, to)
		}
		if to.next(0) < 0 {
			return false
		}
	}
	return m.reached[len(m.t.parts)].has(len(m.text))
}

// reachValues passes an expression whose values have no names.
func (m *match) reachValues(e *expression, from, to bitset) {
	marked := e.op.marker != 0
	begins := m.begins[e.first]
	if marked {
		copy(to, from)
		begins.after(from, m.classes[e.marker])
	} else {
		copy(begins, from)
	}
	for v := e.first; v < e.last; v++ {
		m.reachEnds(v, !marked && v == e.first)
		to.or(m.ends[v])
		if v+1 < e.last {
			m.begins[v+1].after(m.ends[v], m.classes[e.sep])
		}
	}
}

// reachEnds computes where v may end from where it may begin.
func (m *match) reachEnds(v int, nonEmpty bool) {
	ends, c, limit := m.ends[v], m.classes[m.t.vars[v].class], m.t.vars[v].limit
	unlimited := limit == 0 || limit > len(m.text)
	if nonEmpty {
		ends.after(m.begins[v], c)
		limit--
	} else {
		copy(ends, m.begins[v])
	}
	if unlimited {
		ends.run(c)
		return
	}
	ends.runUpTo(c, m.scratch, limit)
}

// deal walks the template backwards and captures the values.
func (m *match) deal() {
	at := len(m.text)
	for i := len(m.t.parts) - 1; i >= 0; i-- {
		p := &m.t.parts[i]
		switch {
		case p.expr == nil:
			at -= len(p.literal.text)
		case p.expr.op.named:
			at = m.dealPairs(i, at)
		default:
			at = m.dealValues(p.expr, at)
		}
	}
}

// dealValues captures the values of e, which ends at the given position, and
// returns where it begins: as many variables as can be, each as short as can be.
func (m *match) dealValues(e *expression, at int) int {
	v := e.last - 1
	for v >= e.first && !m.ends[v].has(at) {
		v--
	}
	for ; v >= e.first; v-- {
		unmarked := v == e.first && e.op.marker == 0
		latest := at
		if unmarked {
			latest-- // not empty
		}
		begin := m.begins[v].previous(latest)
		m.capture(v, begin, at)
		if unmarked {
			return begin
		}
		at = begin - 1
	}
	return at
}

// capture notes a value, or the elements of a list from the last to the first.
func (m *match) capture(v, begin, end int) {
	if sep := symbol(m.t.vars[v].list); sep != 0 {
		for i := end - 1; i >= begin && len(m.captures) <= maxValues; i-- {
			if m.text[i] == sep {
				m.captures = append(m.captures, capture{v, i + 1, end})
				end = i
			}
		}
	}
	if len(m.captures) <= maxValues {
		m.captures = append(m.captures, capture{v, begin, end})
	}
}

// values decodes the captures, and refuses them all if one is a traversal or
// there are too many.
func (m *match) values() ([]Value, bool) {
	if len(m.captures) > maxValues {
		return nil, false
	}
	slices.Reverse(m.captures)
	slices.SortStableFunc(m.captures, func(a, b capture) int {
		return cmp.Compare(a.variable, b.variable)
	})
	values := make([]Value, len(m.captures))
	for i, c := range m.captures {
		value := m.decode(c.begin, c.end)
		if isTraversal(value) {
			return nil, false
		}
		values[i] = Value{Name: m.t.vars[c.variable].name, Value: value}
	}
	return values, true
}

// decode returns text[begin:end] without escapes. No class holds an escaped
// octet that is not ASCII, so the result is valid UTF-8.
func (m *match) decode(begin, end int) string {
	if len(m.text) == len(m.uri) { // nothing was escaped, nothing is non-ASCII
		return m.uri[begin:end]
	}
	value := make([]byte, 0, end-begin)
	for _, s := range m.text[begin:end] {
		if s >= escaped {
			s -= escaped
		}
		value = utf8.AppendRune(value, rune(s))
	}
	return string(value)
}

// isTraversal reports whether a value is a dot segment or holds a double dot
// as a segment; a backslash counts as a slash, as a program downstream may read it as one.
func isTraversal(value string) bool {
	if !strings.Contains(value, "..") {
		return value == "."
	}
	isSlash := func(r rune) bool { return r == '/' || r == '\\' }
	for segment := range strings.FieldsFuncSeq(value, isSlash) {
		if segment == ".." {
			return true
		}
	}
	return false
}
