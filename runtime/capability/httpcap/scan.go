package httpcap

import (
	"slices"

	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A scan replaces secrets in a text that comes in parts. Places in the text are counted from its beginning.
//
// How long it takes depends on the text, its parts, the places of whole secrets in it, and how many secrets there are
// and how long. It does not depend on how far the text agrees with one: who has a server send guesses learns nothing
// from those that are wrong. Of a secret of more than 64 bytes a tail is followed only when its head was found, and then
// for as long as it could go on. So it can be learned whether the text has the whole head, which is the first 64
// bytes in hexadecimal, 96 in base64 and 128 as they are, and nothing of what is behind. Only who knows all but a few
// bytes of a head can use that, to learn these few.
//
// After the last part of a text another text may begin.
type scan struct {
	reach int // bytes that tell of any place whether a secret begins there
	heads *lane
	tails []*lane

	text  []byte // what is held of it
	base  int    // the place where that begins
	at    int    // the place that is next
	given int    // the place up to which it was given; beyond base if a secret goes on there

	ends   []ending // of secrets whose beginnings are not known yet, in order
	traced []*lane  // those that trace follows
	found  []span   // secrets, in order, none of which overlaps the next
	work   int      // words that were followed, for tests to compare
}

// A lane is a part of the automaton that a scan follows.
type lane struct {
	*part
	ahead  ring // on the way through the text; of a tail, all empty while it is not followed
	behind ring // on the way back
	until  int  // the place up to which a tail is followed
}

// An ending is a place where secrets end, and their last states: those in one word of a lane.
type ending struct {
	place int
	lane  *lane
	word  int
	bits  uint64
}

// A span is from a place to another, which is not in it.
type span struct{ begin, end int }

// A ring has the states of places in a row: of one, and of all that an escape may lead to.
type ring [maxEscape + 1]states

// reset empties a ring, and makes one that was never used.
func (r *ring) reset(words int) {
	if r[0] != nil {
		for _, s := range r {
			clear(s)
		}
		return
	}
	all := make(states, len(r)*words)
	for i := range r {
		r[i] = all[i*words : (i+1)*words]
	}
}

func (r *ring) at(place int) states { return r[uint(place)%uint(len(r))] }

func newScan(a *automaton, reach int) *scan {
	lanes := make([]lane, len(a.tails)+1)
	s := &scan{reach: reach, heads: &lanes[len(a.tails)]}
	s.heads.part = a.heads
	s.heads.ahead.reset(len(a.heads.begin))
	for i, tail := range a.tails {
		lanes[i].part = tail
		s.tails = append(s.tails, &lanes[i])
	}
	return s
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
	s.follow(end - maxAhead)
	s.locate()
	return s.give(dst, max(s.base, end-s.reach))
}

// whole gives a text that comes in one part. The nil scan gives it as it is.
func (s *scan) whole(text string) string {
	if s == nil {
		return text
	}
	s.text = append(s.text, text...)
	return string(s.next(make([]byte, 0, len(text)), true))
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

// wake has the tails followed whose heads end at the place.
func (s *scan) wake() {
	heads := s.heads.ahead.at(s.at)
	for _, tail := range s.tails {
		if heads.has(tail.gate) == 0 {
			continue
		}
		if s.at >= tail.until {
			tail.ahead.reset(len(tail.begin))
		}
		tail.until = s.at + tail.reach
	}
}

// step follows the states of a place over the byte there, as it is: those of the heads at last, for they are gone then.
func (s *scan) step(c byte) {
	heads := s.heads.ahead.at(s.at)
	for _, tail := range s.tails {
		if s.at < tail.until {
			s.stepIn(tail, c, heads.has(tail.gate))
		}
	}
	s.stepIn(s.heads, c, 0)
}

func (s *scan) stepIn(l *lane, c byte, entry uint64) {
	from := l.ahead.at(s.at)
	if l.step(l.ahead.at(s.at+1), from, c, entry) != 0 {
		s.note(l, from)
	}
	s.work += len(from)
}

// note keeps the last states of secrets that a step has left, and takes them away from there.
func (s *scan) note(l *lane, last states) {
	for w, bits := range last {
		if bits != 0 {
			s.ends = append(s.ends, ending{s.at, l, w, bits})
		}
	}
	clear(last)
}

// leap follows the states of a place over the escapes and the line break with which b, the text there, begins.
func (s *scan) leap(b []byte) {
	var room [16]reading
	readings, line := escapes(room[:0], b), lineBreak(b)
	heads := s.heads.ahead.at(s.at)
	for _, tail := range s.tails {
		if s.at < tail.until {
			s.leapIn(tail, readings, line, heads.has(tail.gate))
		}
	}
	s.leapIn(s.heads, readings, line, 0)
}

func (s *scan) leapIn(l *lane, readings []reading, line int, entry uint64) {
	from := l.ahead.at(s.at)
	for _, r := range readings {
		l.leap(l.ahead.at(s.at+r.n), from, r.c, entry)
		s.work += len(from)
	}
	if line > 0 {
		l.skip(l.ahead.at(s.at+line), from)
		s.work += len(from)
	}
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

// trace goes back from the last of ends to where the secrets begin that end there, and takes these away. It takes along
// the ends on its way of others that overlap. The text has the whole of all these, so the time may show; of no other
// secret does it look how far the text agrees.
func (s *scan) trace() span {
	last := s.ends[len(s.ends)-1].place
	found := span{last, last}
	s.traced = s.traced[:0]
	s.traceIn(s.heads)
	for at, alive := last, last; at >= s.base && at > alive-len(ring{}); at-- {
		if at < last && s.back(at) {
			found.begin = at
		}
		for n := len(s.ends) - 1; n >= 0 && s.ends[n].place == at && found.begin == last; n-- {
			e := s.ends[n]
			s.ends = s.ends[:n]
			s.traceIn(e.lane)
			e.lane.behind.at(at)[e.word] |= e.bits
		}
		if s.goesOn(at) {
			alive = at
		}
	}
	return found
}

// traceIn has trace follow a lane.
func (s *scan) traceIn(l *lane) {
	if !slices.Contains(s.traced, l) {
		l.behind.reset(len(l.begin))
		s.traced = append(s.traced, l)
	}
}

// goesOn reports whether a place has states on the way back.
func (s *scan) goesOn(at int) bool {
	return slices.ContainsFunc(s.traced, func(l *lane) bool { return slices.Max(l.behind.at(at)) > 0 })
}

// back gives a place the states that lead to those behind it, and reports whether a secret begins there.
func (s *scan) back(at int) (begun bool) {
	for _, l := range s.traced {
		clear(l.behind.at(at))
	}
	b := s.text[at-s.base:]
	var room [16]reading
	readings, line := room[:0], 0
	if leads[b[0]] {
		readings, line = escapes(readings, b), lineBreak(b)
	}
	for _, l := range s.traced {
		begun = s.backIn(l, at, reading{b[0], 1}, l.rows[b[0]]) || begun
		for _, r := range readings {
			begun = s.backIn(l, at, r, l.escaped(r.c)) || begun
		}
		if line > 0 {
			l.skip(l.behind.at(at), l.behind.at(at+line))
			s.work += len(l.begin)
		}
	}
	return begun
}

func (s *scan) backIn(l *lane, at int, r reading, written states) bool {
	begun, left := l.back(l.behind.at(at), l.behind.at(at+r.n), r.c, written)
	if left != 0 {
		s.heads.behind.at(at).add(l.gate)
	}
	s.work += len(l.begin)
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
