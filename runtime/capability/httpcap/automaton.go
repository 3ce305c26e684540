package httpcap

import "strings"

// An automaton recognizes patterns in a text, all at once. Every character of a pattern has a state, which is in the
// states of a place of the text if the pattern, up to and with that character, ends there. The states of one place lead
// to those of others with the same few operations, whatever they are: the time that takes tells of the text alone.
//
// The first characters of all patterns are one part, the heads. Of a pattern that is longer the others are one more, a
// tail: it has no state as long as the head was not found.
type automaton struct {
	parts []*part // the tails, and then the heads: what these lead to is asked before they are cleared
	words int     // of the states of a place
}

// A part follows some of the states, which are words of those of a place.
type part struct {
	word int // the first of them; 0 for the heads
	gate int // the state that leads to a tail; -1 for the heads

	rows      [256]states // by byte: those whose character it may be
	begin     states      // the first ones of patterns
	end       states      // the last ones
	escapable states      // those whose character may be escaped, whichever it is
	encoded   states      // these, and those whose character may be if it is one of escapedInBase64
	broken    states      // those that the end of a line may follow
}

// states is a set of states, each a bit.
type states []uint64

const wordBits = 64

func newStates(n int) states { return make(states, (n+wordBits-1)/wordBits) }

func (s states) add(state int) { s[state/wordBits] |= 1 << (state % wordBits) }

func (s states) has(state int) uint64 { return s[state/wordBits] >> (state % wordBits) & 1 }

// maxHead is how many characters of a pattern are in the heads: all that a secret of up to 64 bytes has.
const maxHead = 128

func (p pattern) head() [][]byte { return p.characters[:min(len(p.characters), maxHead)] }

func (p pattern) tail() [][]byte { return p.characters[len(p.head()):] }

func newAutomaton(patterns []pattern) *automaton {
	size := 0
	for _, p := range patterns {
		size += len(p.head())
	}
	heads := newPart(size)
	a := &automaton{words: len(heads.begin)}
	state := 0 // the next in heads
	for _, p := range patterns {
		heads.add(p.head(), state, p.kind)
		heads.begin.add(state)
		state += len(p.head())
		if len(p.tail()) == 0 {
			heads.finish(state - 1)
			continue
		}
		a.addTail(p, state-1)
	}
	a.parts = append(a.parts, heads)
	return a
}

func (a *automaton) addTail(p pattern, gate int) {
	tail := newPart(len(p.tail()))
	tail.word, tail.gate = a.words, gate
	tail.add(p.tail(), 0, p.kind)
	tail.finish(len(p.tail()) - 1)
	a.parts = append(a.parts, tail)
	a.words += len(tail.begin)
}

func newPart(size int) *part {
	p := &part{
		gate: -1, begin: newStates(size), end: newStates(size),
		escapable: newStates(size), encoded: newStates(size), broken: newStates(size),
	}
	for c := range p.rows {
		p.rows[c] = newStates(size)
	}
	return p
}

// add gives characters their states, from the first one on.
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

// finish makes a state the last one of its pattern.
func (p *part) finish(state int) {
	p.end.add(state)
	p.broken[state/wordBits] &^= p.end[state/wordBits]
}

// of gives the part's own of the states of a place.
func (p *part) of(all states) states { return all[p.word:][:len(p.begin)] }

// entry is 1 if the states of a place lead to the first one of the part.
func (p *part) entry(from states) uint64 {
	if p.gate < 0 {
		return 0
	}
	return from.has(p.gate)
}

// step adds to the states of a place what those of the place before lead to over a byte, and clears them. ended is not
// 0 if a pattern ended at the place before.
func (p *part) step(to, from states, c byte) (ended uint64) {
	carry, row := p.entry(from), p.rows[c]
	to, from, begin, end := p.of(to)[:len(row)], p.of(from)[:len(row)], p.begin[:len(row)], p.end[:len(row)]
	for w := range row {
		x := from[w]
		from[w] = 0
		ended |= x & end[w]
		to[w] |= (x<<1 | carry | begin[w]) & row[w]
		carry = x >> (wordBits - 1)
	}
	return ended
}

// leap adds to the states of a place what those of one before lead to over an escape of c.
func (p *part) leap(to, from states, c byte) {
	carry, row, escaped := p.entry(from), p.rows[c], p.escaped(c)
	to, from = p.of(to), p.of(from)
	for w, x := range from {
		to[w] |= (x<<1 | carry | p.begin[w]) & row[w] & escaped[w]
		carry = x >> (wordBits - 1)
	}
}

// skip adds to the states of a place what those of one before lead to over the end of a line. So it does in the other
// direction.
func (p *part) skip(to, from states) {
	to, from = p.of(to), p.of(from)
	for w, x := range from {
		to[w] |= x & p.broken[w]
	}
}

// escaped gives the states whose character may be escaped if it is c.
func (p *part) escaped(c byte) states {
	if strings.IndexByte(escapedInBase64, c) >= 0 {
		return p.encoded
	}
	return p.escapable
}

// addEnds adds the last states of all patterns.
func (a *automaton) addEnds(to states) {
	for _, p := range a.parts {
		own := p.of(to)
		for w, x := range p.end {
			own[w] |= x
		}
	}
}

// back is for the other direction, in which a state is in those of a place if the pattern, from behind its character
// on, begins there. It adds to the states of a place those that lead over c to some of a place behind; written has all
// whose character may be written as c is there. begun is not 0 if a pattern begins at the place.
func (p *part) back(to, from states, c byte, written states) (begun uint64) {
	carry, row, own := uint64(0), p.rows[c], p.of(to)
	from = p.of(from)
	for w := len(row) - 1; w >= 0; w-- {
		x := from[w] & row[w] & written[w]
		begun |= x & p.begin[w]
		x &^= p.begin[w]
		own[w] |= x>>1 | carry
		carry = x << (wordBits - 1)
	}
	if carry != 0 {
		to.add(p.gate)
	}
	return begun
}
