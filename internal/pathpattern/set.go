package pathpattern

import (
	"slices"
	"sort"
	"strings"
)

// A Set matches a text against many patterns at once. Its zero value matches nothing. It is immutable, and safe for concurrent
// use. The time that it takes hardly grows with the number of patterns, but for those with a "*" before their end and the same
// text before it, of which each is tried.
type Set struct {
	all      bool                // a pattern matches every text
	exact    map[string]struct{} // patterns without "*": these texts, and what is below them
	shortest int                 // length of the shortest of exact
	longest  int
	prefixes []string // patterns with "**" at their end alone: what precedes it; sorted, none begins with another
	globs    map[string][]*Pattern
	heads    []int // lengths of the keys of globs, each once
	patterns []*Pattern
}

// NewSet makes a Set of patterns.
func NewSet(patterns []*Pattern) *Set {
	s := &Set{patterns: slices.Clone(patterns), exact: map[string]struct{}{}, globs: map[string][]*Pattern{}}
	for _, p := range patterns {
		s.add(p)
	}
	slices.Sort(s.prefixes)
	s.prefixes = withoutLonger(s.prefixes)
	s.all = len(s.prefixes) > 0 && s.prefixes[0] == ""
	slices.Sort(s.heads)
	s.heads = slices.Compact(s.heads)
	return s
}

func (s *Set) add(p *Pattern) {
	before, after, star := strings.Cut(p.text, "*")
	switch {
	case !star:
		if len(s.exact) == 0 {
			s.shortest = len(p.head)
		}
		s.exact[p.head] = struct{}{}
		s.shortest, s.longest = min(s.shortest, len(p.head)), max(s.longest, len(p.head))
	case after == "*":
		s.prefixes = append(s.prefixes, before)
	default:
		s.globs[before] = append(s.globs[before], p)
		s.heads = append(s.heads, len(before))
	}
}

// withoutLonger returns a sorted list without texts that begin with another.
func withoutLonger(sorted []string) (list []string) {
	for _, one := range sorted {
		if len(list) == 0 || !strings.HasPrefix(one, list[len(list)-1]) {
			list = append(list, one)
		}
	}
	return list
}

// IsEmpty reports whether the Set has no pattern.
func (s *Set) IsEmpty() bool { return len(s.patterns) == 0 }

// MatchesAll reports whether a pattern of the Set is "**".
func (s *Set) MatchesAll() bool { return s.all }

// Match reports whether any of the patterns matches text.
func (s *Set) Match(text string) bool {
	return s.all || s.hasPrefix(text) || s.isBelow(text) || s.matchesGlob(text)
}

// hasPrefix reports whether text begins with one of prefixes: that can only be the last one that is not after text.
func (s *Set) hasPrefix(text string) bool {
	if len(s.prefixes) == 0 {
		return false
	}
	after := sort.Search(len(s.prefixes), func(i int) bool { return s.prefixes[i] > text })
	return after > 0 && strings.HasPrefix(text, s.prefixes[after-1])
}

// isBelow reports whether text is one of exact, or one of them and a slash begin it.
func (s *Set) isBelow(text string) bool {
	if len(s.exact) == 0 {
		return false
	}
	for end := s.shortest; end <= min(len(text), s.longest); end++ {
		if end < len(text) && text[end] != '/' {
			continue
		}
		if _, ok := s.exact[text[:end]]; ok {
			return true
		}
	}
	return false
}

func (s *Set) matchesGlob(text string) bool {
	for _, n := range s.heads {
		if n > len(text) {
			return false
		}
		if slices.ContainsFunc(s.globs[text[:n]], func(p *Pattern) bool { return p.Match(text) }) {
			return true
		}
	}
	return false
}

// MayMatch reports whether any of the patterns could match a text that begins with head. It may report true although no text
// does.
func (s *Set) MayMatch(head string) bool {
	return s.all || slices.ContainsFunc(s.patterns, func(p *Pattern) bool { return p.MayMatch(head) })
}
