package httpcap

import (
	"slices"

	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A scan replaces secrets in a text that arrives in parts. Places in the text are counted from its beginning.
//
// Its time depends on the text, its parts, the places of complete secrets in it, and the number and lengths of the
// secrets. It does not depend on how many characters of a secret the text matches: a guest that makes a server send
// guesses learns nothing from wrong ones. A scan follows the tail of a secret of more than 64 bytes only after its
// head, and then for a fixed number of bytes. So the time shows whether the text has the complete head: the first 64
// bytes in hexadecimal, 96 in base64, and 128 unencoded. It shows nothing about the tail. Only a guest that knows all
// but a few bytes of a head can use that, to learn those few.
//
// After the last part of a text another text may begin.
type scan struct {
	reach int // bytes of text after which it is known whether a secret begins at a place
	heads *track
	tails []*track

	text  []byte // that is held back
	base  int    // the place where text begins
	at    int    // the next place
	given int    // the place up to which the text was written; above base within a secret

	ends    []ending // of secrets whose beginnings are not located yet, in order
	matched []*track // those that matchStart follows
	found   []span   // secrets, in order, without overlaps
	work    int      // words of states that were processed, for tests
}

// A track is a part of the automaton that a scan follows.
type track struct {
	*part
	ahead  ring // states forwards; of a tail, empty while it is not followed
	behind ring // states backwards
	until  int  // the place up to which a tail is followed
}

// An ending is a place where secrets end, with their last states in one word of a track.
type ending struct {
	place int
	track *track
	word  int
	bits  uint64
}

// A span is the places from begin up to end, without end.
type span struct{ begin, end int }

// A ring has the states of one place and of all later places that an escape may lead to.
type ring [maxEscape + 1]states

// reset clears a ring, and allocates it before its first use.
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
	tracks := make([]track, len(a.tails)+1)
	s := &scan{reach: reach, heads: &tracks[len(a.tails)]}
	s.heads.part = a.heads
	s.heads.ahead.reset(len(a.heads.begin))
	for i, tail := range a.tails {
		tracks[i].part = tail
		s.tails = append(s.tails, &tracks[i])
	}
	return s
}

// next scans the bytes added to the text, and appends redacted text to dst. Unless last is set, it holds back a number
// of bytes. That number does not depend on the bytes, so that the guest does not learn from it how a secret begins.
func (s *scan) next(dst []byte, last bool) []byte {
	end := s.base + len(s.text)
	if last {
		s.follow(end)
		s.step(0) // after the text: a secret may end before it
		s.locate()
		return s.give(dst, end)
	}
	s.follow(end - maxAhead)
	s.locate()
	return s.give(dst, max(s.base, end-s.reach))
}

// whole redacts a text in one part. The nil scan returns it unchanged.
func (s *scan) whole(text string) string {
	if s == nil {
		return text
	}
	s.text = append(s.text, text...)
	return string(s.next(make([]byte, 0, len(text)), true))
}

// follow scans up to a place.
func (s *scan) follow(end int) {
	for ; s.at < end; s.at++ {
		s.wake()
		b := s.text[s.at-s.base:]
		if leads[b[0]] {
			s.skipEscape(b)
		}
		s.step(b[0])
	}
}

// wake begins to follow the tails whose heads end at the place.
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

// step computes the states of the next place, after the byte c. It handles the heads last, since that clears their
// states.
func (s *scan) step(c byte) {
	heads := s.heads.ahead.at(s.at)
	for _, tail := range s.tails {
		if s.at < tail.until {
			s.stepIn(tail, c, heads.has(tail.gate))
		}
	}
	s.stepIn(s.heads, c, 0)
}

func (s *scan) stepIn(l *track, c byte, entry uint64) {
	from := l.ahead.at(s.at)
	if l.step(l.ahead.at(s.at+1), from, c, entry) != 0 {
		s.note(l, from)
	}
	s.work += len(from)
}

// note records the last states of secrets that a step has kept, and clears them there.
func (s *scan) note(l *track, last states) {
	for w, bits := range last {
		if bits != 0 {
			s.ends = append(s.ends, ending{s.at, l, w, bits})
		}
	}
	clear(last)
}

// skipEscape follows the states of a place by the escapes and the line break at the start of b, the text there.
func (s *scan) skipEscape(b []byte) {
	var room [16]reading
	readings, line := escapes(room[:0], b), lineBreak(b)
	heads := s.heads.ahead.at(s.at)
	for _, tail := range s.tails {
		if s.at < tail.until {
			s.skipEscapeIn(tail, readings, line, heads.has(tail.gate))
		}
	}
	s.skipEscapeIn(s.heads, readings, line, 0)
}

func (s *scan) skipEscapeIn(l *track, readings []reading, line int, entry uint64) {
	from := l.ahead.at(s.at)
	for _, r := range readings {
		l.skipEscape(l.ahead.at(s.at+r.n), from, r.c, entry)
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
		backwards = append(backwards, s.matchStart())
	}
	for _, f := range slices.Backward(backwards) {
		for n := len(s.found); n > 0 && s.found[n-1].end > f.begin; n-- {
			f.begin = min(f.begin, s.found[n-1].begin)
			s.found = s.found[:n-1]
		}
		s.found = append(s.found, f)
	}
}

// matchStart goes back from the last of ends to the beginnings of the secrets that end there. It removes these ends,
// and those of other secrets that overlap on the way. All of these secrets are complete in the text, so the time may
// show them; it compares no other secret with the text.
func (s *scan) matchStart() span {
	last := s.ends[len(s.ends)-1].place
	found := span{last, last}
	s.matched = s.matched[:0]
	s.matchStartIn(s.heads)
	for at, alive := last, last; at >= s.base && at > alive-len(ring{}); at-- {
		if at < last && s.back(at) {
			found.begin = at
		}
		for n := len(s.ends) - 1; n >= 0 && s.ends[n].place == at && found.begin == last; n-- {
			e := s.ends[n]
			s.ends = s.ends[:n]
			s.matchStartIn(e.track)
			e.track.behind.at(at)[e.word] |= e.bits
		}
		if s.continues(at) {
			alive = at
		}
	}
	return found
}

// matchStartIn adds a track to those that matchStart follows.
func (s *scan) matchStartIn(l *track) {
	if !slices.Contains(s.matched, l) {
		l.behind.reset(len(l.begin))
		s.matched = append(s.matched, l)
	}
}

// continues reports whether a place has states backwards.
func (s *scan) continues(at int) bool {
	return slices.ContainsFunc(s.matched, func(l *track) bool { return slices.Max(l.behind.at(at)) > 0 })
}

// back computes the states of a place from those of later places, and reports whether a secret begins there.
func (s *scan) back(at int) (begun bool) {
	for _, l := range s.matched {
		clear(l.behind.at(at))
	}
	b := s.text[at-s.base:]
	var room [16]reading
	readings, line := room[:0], 0
	if leads[b[0]] {
		readings, line = escapes(readings, b), lineBreak(b)
	}
	for _, l := range s.matched {
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

func (s *scan) backIn(l *track, at int, r reading, written states) bool {
	begun, left := l.back(l.behind.at(at), l.behind.at(at+r.n), r.c, written)
	if left != 0 {
		s.heads.behind.at(at).add(l.gate)
	}
	s.work += len(l.begin)
	return begun != 0
}

// give appends the text up to a place to dst, and removes it from s.
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
