package httpcap

import "strings"

// An automaton recognizes all patterns in a text at once. Each character of a pattern has a state. A place of the text
// has that state if the pattern, up to and with that character, ends there. The same few operations compute the states
// of a place from those of earlier places, whatever these are, so that the time depends on the text alone.
//
// The first characters of all patterns are one part, the heads. The other characters of a longer pattern are another part,
// a tail: it has no states until its head was found.
type automaton struct {
	heads *part
	tails []*part
}

// A part has some of the states. All its sets have the same number of words.
type part struct {
	gate  int // of a tail: the state of the heads that leads to it
	reach int // of a tail: a bound on the bytes from the place of that state to the end of the pattern

	rows      [256]states // by byte: those of characters that it may be
	begin     states      // the first ones of patterns
	end       states      // the last ones
	escapable states      // those whose character may be escaped
	encoded   states      // these, and those whose character may be escaped if it is one of escapedInBase64
	broken    states      // those that a line break may follow
}

// states is a set of states, each a bit.
type states []uint64

const wordBits = 64

func newStates(n int) states { return make(states, (n+wordBits-1)/wordBits) }

func (s states) add(state int) { s[state/wordBits] |= 1 << (state % wordBits) }

func (s states) has(state int) uint64 { return s[state/wordBits] >> (state % wordBits) & 1 }

// maxHead is how many characters of a pattern are in the heads: all those of a secret of up to 64 bytes.
const maxHead = 128

func (p pattern) head() [][]byte { return p.characters[:min(len(p.characters), maxHead)] }

func (p pattern) tail() [][]byte { return p.characters[len(p.head()):] }

func newAutomaton(patterns []pattern) *automaton {
	size := 0
	for _, p := range patterns {
		size += len(p.head())
	}
	a := &automaton{heads: newPart(size)}
	state := 0 // the next in heads
	for _, p := range patterns {
		a.heads.add(p.head(), state, p.kind)
		a.heads.begin.add(state)
		state += len(p.head())
		if len(p.tail()) == 0 {
			a.heads.finish(state - 1)
			continue
		}
		a.tails = append(a.tails, newTail(p, state-1))
	}
	return a
}

func newTail(p pattern, gate int) *part {
	tail := newPart(len(p.tail()))
	tail.gate, tail.reach = gate, maxEscape*(len(p.tail())+1)+maxEnds
	tail.add(p.tail(), 0, p.kind)
	tail.finish(len(p.tail()) - 1)
	return tail
}

func newPart(size int) *part {
	p := &part{
		begin: newStates(size), end: newStates(size),
		escapable: newStates(size), encoded: newStates(size), broken: newStates(size),
	}
	for c := range p.rows {
		p.rows[c] = newStates(size)
	}
	return p
}

// add sets the states of characters, from first on.
func (p *part) add(characters [][]byte, first int, k kind) {
	for i, bytes := range characters {
		for _, c := range bytes {
			p.rows[c].add(first + i)
		}
		switch k {
		case escapable:
			p.escapable.add(first + i)
			p.encoded.add(first + i)
		case encoded:
			p.encoded.add(first + i)
			p.broken.add(first + i)
		}
	}
}

// finish marks the last state of a pattern.
func (p *part) finish(state int) {
	p.end.add(state)
	p.broken[state/wordBits] &^= p.end[state/wordBits]
}

// step adds the states that follow from the place before, by the byte c, to those of a place. In the place before it
// keeps only last states of patterns; ended is not 0 if there are any. entry is 1 if the heads lead to the first state
// of the part.
func (p *part) step(to, from states, c byte, entry uint64) (ended uint64) {
	carry, row := entry, p.rows[c]
	to, from, begin, end := to[:len(row)], from[:len(row)], p.begin[:len(row)], p.end[:len(row)]
	for w := range row {
		x := from[w]
		last := x & end[w]
		from[w] = last
		ended |= last
		to[w] |= (x<<1 | carry | begin[w]) & row[w]
		carry = x >> (wordBits - 1)
	}
	return ended
}

// skipEscape adds the states that follow from an earlier place, by an escape of c, to those of a place.
func (p *part) skipEscape(to, from states, c byte, entry uint64) {
	carry, row, escaped := entry, p.rows[c], p.escaped(c)
	for w, x := range from {
		to[w] |= (x<<1 | carry | p.begin[w]) & row[w] & escaped[w]
		carry = x >> (wordBits - 1)
	}
}

// skip adds the states that follow from another place, by a line break in either direction, to those of a place.
func (p *part) skip(to, from states) {
	for w, x := range from {
		to[w] |= x & p.broken[w]
	}
}

// escaped returns the states whose character c may be escaped.
func (p *part) escaped(c byte) states {
	if strings.IndexByte(escapedInBase64, c) >= 0 {
		return p.encoded
	}
	return p.escapable
}

// back is step in the other direction: a place has a state if the rest of the pattern, after the character, begins
// there. It adds the states from which c leads to a later place; written has the states whose character may be spelled
// as c there. begun is not 0 if a pattern begins at the place. left is 1 if a tail begins there, so that the place has
// the state of its gate.
func (p *part) back(to, from states, c byte, written states) (begun, left uint64) {
	row := p.rows[c]
	for w := len(row) - 1; w >= 0; w-- {
		x := from[w] & row[w] & written[w]
		begun |= x & p.begin[w]
		x &^= p.begin[w]
		to[w] |= x>>1 | left<<(wordBits-1)
		left = x & 1
	}
	return begun, left
}
