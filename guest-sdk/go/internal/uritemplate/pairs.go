// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

package uritemplate

import "sort"

// A pair is a place in the URI where a named variable and its value stand,
// after the character that announces it.
type pair struct {
	variable int
	at       int // of the announcing "?", "&" or ";"
	value    int // where the value begins
	end      int // the latest position it may end at
}

// findPairs collects, for each part, the pairs of its variables, in the order
// of the URI. As no name appears twice in a template, each belongs to one part.
func (m *match) findPairs() {
	m.pairs = make([][]pair, len(m.t.parts))
	var key []byte
	for at, delimiter := range m.text {
		if delimiter != '?' && delimiter != '&' && delimiter != ';' {
			continue
		}
		end := at + 1
		for end < len(m.text) && isKey(m.text[end]) {
			end++
		}
		key = appendText(key[:0], m.text[at+1:end])
		v, ok := m.t.keys[string(key)]
		if !ok {
			continue
		}
		i := m.t.vars[v].part
		op := m.t.parts[i].expr.op
		if delimiter != symbol(op.marker) && delimiter != symbol(op.sep) {
			continue
		}
		switch {
		case end < len(m.text) && m.text[end] == '=':
			m.pairs[i] = append(m.pairs[i], pair{v, at, end + 1, m.valueEnd(v, end+1)})
		case op.marker == ';': // an empty value has no "=" (RFC 6570 section 3.2.7)
			m.pairs[i] = append(m.pairs[i], pair{v, at, end, end})
		}
	}
}

// valueEnd returns the latest end of a value of v that begins at a position.
func (m *match) valueEnd(v, begin int) int {
	end := m.classes[m.t.vars[v].class].runEnd(begin)
	if limit := m.t.vars[v].limit; limit > 0 {
		end = min(end, begin+limit)
	}
	return end
}

// reachPairs passes part i, an expression with names. A chain is a sequence of
// adjacent pairs; one may begin at a marker that is in from, and then go on for
// as long as no variable comes twice that may not.
func (m *match) reachPairs(i int, from, to bitset) {
	e := m.t.parts[i].expr
	copy(to, from)
	var seen [maxVariables]int // one more than where a variable was seen last
	start := 0                 // one more than the latest beginning of the current chain
	floor := 0                 // a chain that begins before this has a variable twice
	end := -1
	for _, p := range m.pairs[i] {
		if p.at != end || m.text[p.at] != symbol(e.op.sep) {
			start = 0
		}
		if m.text[p.at] == symbol(e.op.marker) && from.has(p.at) {
			start = p.at + 1
		}
		if !m.t.vars[p.variable].explode {
			floor = max(floor, seen[p.variable])
			seen[p.variable] = p.at + 1
		}
		if start > floor {
			to.setRange(p.value, p.end)
		}
		end = p.end
	}
}

// dealPairs captures the values of part i, which ends at the given position,
// and returns where it begins: as many pairs as can be.
func (m *match) dealPairs(i, at int) int {
	e, pairs, from := m.t.parts[i].expr, m.pairs[i], m.reached[i]
	last := sort.Search(len(pairs), func(j int) bool { return pairs[j].value > at }) - 1
	if last < 0 || pairs[last].end < at {
		return at
	}
	var seen [maxVariables]bool
	first := -1
	for j := last; j >= 0; j-- {
		p := pairs[j]
		if j < last && (p.end != pairs[j+1].at || m.text[p.end] != symbol(e.op.sep)) {
			break
		}
		if seen[p.variable] {
			break
		}
		seen[p.variable] = !m.t.vars[p.variable].explode
		if m.text[p.at] == symbol(e.op.marker) && from.has(p.at) {
			first = j
		}
	}
	if first < 0 {
		return at
	}
	for j := last; j >= first; j-- {
		end := pairs[j].end
		if j == last {
			end = at
		}
		m.capture(pairs[j].variable, pairs[j].value, end)
	}
	return pairs[first].at
}
