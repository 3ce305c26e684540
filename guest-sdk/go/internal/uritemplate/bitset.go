// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

package uritemplate

import "math/bits"

// A bitset is a set of positions in a URI of n characters: 0 is before the
// first, n after the last. As the set of a class it holds the position before
// each character of that class. All sets of one match have the same length.
type bitset []uint64

// words returns how many words hold the positions 0 to n.
func words(n int) int { return n/64 + 1 }

func (s bitset) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

func (s bitset) set(i int) { s[i>>6] |= 1 << (i & 63) }

// setRange adds from to to, both included.
func (s bitset) setRange(from, to int) {
	for w := from >> 6; w <= to>>6; w++ {
		mask := ^uint64(0)
		if w == from>>6 {
			mask <<= from & 63
		}
		if w == to>>6 {
			mask &= ^uint64(0) >> (63 - to&63)
		}
		s[w] |= mask
	}
}

func (s bitset) or(t bitset) {
	for w, x := range t {
		s[w] |= x
	}
}

// next returns the smallest member from i on, or -1.
func (s bitset) next(i int) int {
	w := i >> 6
	x := s[w] >> (i & 63) << (i & 63)
	for x == 0 {
		if w++; w == len(s) {
			return -1
		}
		x = s[w]
	}
	return w<<6 + bits.TrailingZeros64(x)
}

// previous returns the greatest member up to i, or -1.
func (s bitset) previous(i int) int {
	w := i >> 6
	x := s[w] << (63 - i&63) >> (63 - i&63)
	for x == 0 {
		if w--; w < 0 {
			return -1
		}
		x = s[w]
	}
	return w<<6 + 63 - bits.LeadingZeros64(x)
}

// runEnd returns the smallest position from i on that is no member. As the set
// of a class never holds n, there is one.
func (s bitset) runEnd(i int) int {
	w := i >> 6
	x := ^s[w] >> (i & 63) << (i & 63)
	for x == 0 {
		w++
		x = ^s[w]
	}
	return w<<6 + bits.TrailingZeros64(x)
}

// after sets s to the positions one character of c after a member of from.
func (s bitset) after(from, c bitset) {
	carry := uint64(0)
	for w, x := range from {
		x &= c[w]
		s[w], carry = x<<1|carry, x>>63
	}
}

// run adds to s every position that any number of characters of c leads to.
// It is one long addition: the carry runs through the ones of c.
func (s bitset) run(c bitset) {
	carry := uint64(0)
	for w, x := range s {
		var sum uint64
		sum, carry = bits.Add64(x&c[w], c[w], carry)
		s[w] = sum ^ c[w] | x
	}
}

// runUpTo is run with at most limit characters. It works by doubling: runs[m]
// holds the positions that m characters of c follow, and knowing what m
// characters reach gives 2m and m+1. runs is scratch space.
func (s bitset) runUpTo(c, runs bitset, limit int) {
	if limit == 0 {
		return
	}
	copy(runs, c)
	s.advance(c, 1)
	m := 1
	for bit := bits.Len(uint(limit)) - 2; bit >= 0; bit-- {
		s.advance(runs, m)
		runs.narrow(runs, m)
		m *= 2
		if limit>>bit&1 != 0 {
			s.advance(c, 1)
			runs.narrow(c, m)
			m++
		}
	}
}

// advance adds to s the positions d after each member that is in c as well.
func (s bitset) advance(c bitset, d int) {
	skip, shift := d>>6, d&63
	for w := len(s) - 1; w >= skip; w-- {
		x := (s[w-skip] & c[w-skip]) << shift
		if w > skip && shift > 0 {
			x |= (s[w-skip-1] & c[w-skip-1]) >> (64 - shift)
		}
		s[w] |= x
	}
}

// narrow keeps of s the positions i for which i+d is in t; t may be s.
func (s bitset) narrow(t bitset, d int) {
	skip, shift := d>>6, d&63
	for w := range s {
		x := uint64(0)
		if w+skip < len(t) {
			x = t[w+skip] >> shift
		}
		if w+skip+1 < len(t) && shift > 0 {
			x |= t[w+skip+1] << (64 - shift)
		}
		s[w] &= x
	}
}
