package httpcap

import (
	"slices"

	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A scan replaces secrets in a text that comes in parts. Places in the text are counted from its beginning.
//
// How long it takes depends on the text, its parts, the places of whole secrets in it, and how many secrets there are
// and how long. It does not depend on how far the text agrees with one: who has a server send guesses learns nothing
// from those that are wrong. Of a secret of more than 64 bytes the tails are followed only when a head was found, and
// then for as long as any could go on. So it can be learned whether the text has the whole head, which is the first 64
// bytes in hexadecimal, 96 in base64 and 128 as they are, and nothing of what is behind. Only who knows all but a few
// bytes of a head can use that, to learn these few.
type scan struct {
	*automaton
	reach int // bytes that tell of any place whether a secret begins there

	text  []byte // what is held of it
	base  int    // the place where that begins
	at    int    // the place that is next
	given int    // the place up to which it was given; beyond base if a secret goes on there
	awake int    // the place up to which tails are followed

	ring  ring
	ends  []int  // places where secrets end, whose beginnings are not known yet
	found []span // secrets, in order, none of which overlaps the next
	work  int    // words that were followed, for tests to compare
}

// A span is from a place to another, which is not in it.
type span struct{ begin, end int }

// A ring has the states of places in a row: of one, and of all that an escape may lead to.
type ring [maxEscape + 1]states

func newRing(words int) (r ring) {
	all := make(states, len(r)*words)
	for i := range r {
		r[i] = all[i*words : (i+1)*words]
	}
	return r
}

func (r *ring) at(place int) states { return r[uint(place)%uint(len(r))] }

func newScan(a *automaton, reach int) *scan {
	return &scan{automaton: a, reach: reach, ring: newRing(a.words)}
}

// next goes through what was added to the text, and appends to dst what can be given of it. Unless that was the last,
// some bytes are held. How many does not depend on what they are: who sees how much is kept back must not learn how a
// secret begins.
func (s *scan) next(dst []byte, last bool) []byte {
	end := s.base + len(s.text)
	if last {
		s.follow(end)
		s.step(0) // not in the text, but a secret may end before it
		s.locate()
		return s.give(dst, end)
	}
	s.follow(end - maxEscape)
	s.locate()
	return s.give(dst, max(s.base, end-s.reach))
}

// follow goes on to a place.
func (s *scan) follow(end int) {
	for ; s.at < end; s.at++ {
		s.wake()
		b := s.text[s.at-s.base:]
		if leads[b[0]] {
			s.leap(b)
		}
		s.step(b[0])
	}
}

// wake has tails followed from a place on that is the end of a head.
func (s *scan) wake() {
	found := uint64(0)
	for _, tail := range s.parts[:len(s.parts)-1] {
		found |= tail.entry(s.ring.at(s.at))
	}
	if found != 0 {
		s.awake = s.at + s.reach
	}
}

// followed are the parts that are.
func (s *scan) followed() []*part {
	if s.at < s.awake {
		return s.parts
	}
	return s.parts[len(s.parts)-1:]
}

// step follows the states of a place over the byte there, as it is.
func (s *scan) step(c byte) {
	from, to := s.ring.at(s.at), s.ring.at(s.at+1)
	ended := uint64(0)
	for _, p := range s.followed() {
		ended |= p.step(to, from, c)
		s.work += len(p.begin)
	}
	if ended != 0 {
		s.ends = append(s.ends, s.at)
	}
}

// leap follows the states of a place over the escapes and the end of a line with which b, the text there, begins.
func (s *scan) leap(b []byte) {
	var room [16]reading
	readings, line := escapes(room[:0], b), s.lineEnd(s.at)
	from := s.ring.at(s.at)
	for _, p := range s.followed() {
		for _, r := range readings {
			p.leap(s.ring.at(s.at+r.n), from, r.c)
			s.work += len(p.begin)
		}
		if line > 0 {
			p.skip(s.ring.at(s.at+line), from)
			s.work += len(p.begin)
		}
	}
}

// lineEnd gives how many bytes at a place are the end of a line; none where there are too many before it.
func (s *scan) lineEnd(place int) int {
	if lineEnds(s.text[:place-s.base]) == maxLineEnds {
		return 0
	}
	return lineEnd(s.text[place-s.base:])
}

// locate finds the beginnings of the secrets that end at ends.
func (s *scan) locate() {
	var backwards []span
	for len(s.ends) > 0 {
		backwards = append(backwards, s.trace())
	}
	for _, f := range slices.Backward(backwards) {
		for n := len(s.found); n > 0 && s.found[n-1].end > f.begin; n-- {
			f.begin = min(f.begin, s.found[n-1].begin)
			s.found = s.found[:n-1]
		}
		s.found = append(s.found, f)
	}
}

// trace goes back from the last of ends, which it takes away, to where the secret begins. It takes along the ends on
// its way of others that overlap. The text has the whole of a secret, so the time may show.
func (s *scan) trace() span {
	behind, last := newRing(s.words), s.ends[len(s.ends)-1]
	found := span{last, last}
	for at, alive := last, last; at >= s.base && at > alive-len(behind); at-- {
		here := behind.at(at)
		clear(here)
		if at < last && s.back(&behind, at) {
			found.begin = at
		}
		if n := len(s.ends) - 1; n >= 0 && s.ends[n] == at && found.begin == last {
			s.ends = s.ends[:n]
			s.addEnds(here)
		}
		if slices.Max(here) > 0 {
			alive = at
		}
	}
	return found
}

// back gives a place the states that lead to those behind it, and reports whether a secret begins there.
func (s *scan) back(behind *ring, at int) bool {
	b, here, begun := s.text[at-s.base:], behind.at(at), uint64(0)
	for _, p := range s.parts {
		begun |= p.back(here, behind.at(at+1), b[0], p.rows[b[0]])
		if !leads[b[0]] {
			continue
		}
		for _, r := range escapes(nil, b) {
			begun |= p.back(here, behind.at(at+r.n), r.c, p.escaped(r.c))
		}
		if line := s.lineEnd(at); line > 0 {
			p.skip(here, behind.at(at+line))
		}
	}
	return begun != 0
}

// give appends to dst the text up to a place, and lets go of it.
func (s *scan) give(dst []byte, end int) []byte {
	for len(s.found) > 0 && s.found[0].begin < end {
		f := s.found[0]
		s.found = s.found[1:]
		if f.begin >= s.given {
			dst = append(append(dst, s.between(s.given, f.begin)...), secret.Redacted...)
		}
		s.given = f.end
	}
	if s.given < end {
		dst = append(dst, s.between(s.given, end)...)
		s.given = end
	}
	s.text = s.text[:copy(s.text, s.text[end-s.base:])]
	s.base = end
	return dst
}

func (s *scan) between(begin, end int) []byte { return s.text[begin-s.base : end-s.base] }
