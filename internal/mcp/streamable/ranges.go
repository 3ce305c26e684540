package streamable

import (
	"math"
	"strings"
)

// maxSpans bounds what of a Range header is looked at.
const maxSpans = 16

// A span is one range of a Range header.
type span struct {
	first, last uint64 // both included; last is math.MaxUint64 when it is open
	suffix      bool   // last bytes of the whole are meant, and first is zero
}

// parseRange reads a Range header (RFC 9110, section 14.1.2). There are no spans when it is absent, of another unit, or
// of too many ranges: then it is as if it were not there. ok is false when it is malformed.
func parseRange(value string) (spans []span, ok bool) {
	unit, set, found := strings.Cut(value, "=")
	if !found || !strings.EqualFold(unit, "bytes") {
		return nil, true
	}
	for text := range strings.SplitSeq(set, ",") {
		text = strings.Trim(text, " \t")
		if text == "" {
			continue // lists may have empty members
		}
		s, ok := parseSpan(text)
		if !ok {
			return nil, false
		}
		if len(spans) == maxSpans {
			return nil, true
		}
		spans = append(spans, s)
	}
	return spans, true
}

func parseSpan(text string) (s span, ok bool) {
	first, last, found := strings.Cut(text, "-")
	first, last = strings.TrimRight(first, " \t"), strings.TrimLeft(last, " \t")
	if !found || first == "" && last == "" {
		return span{}, false
	}
	s = span{suffix: first == "", last: math.MaxUint64}
	if first != "" {
		if s.first, ok = parseDigits(first); !ok {
			return span{}, false
		}
	}
	if last != "" {
		if s.last, ok = parseDigits(last); !ok {
			return span{}, false
		}
	}
	return s, s.suffix || last == "" || !isLess(last, first)
}

// parseDigits reads a number of any length. One that has no room in n is math.MaxUint64.
func parseDigits(s string) (n uint64, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		if digit := uint64(c - '0'); n > (math.MaxUint64-digit)/10 {
			n = math.MaxUint64
		} else {
			n = n*10 + digit
		}
	}
	return n, s != ""
}

// isLess compares two numbers of digits, whose values may have no room in an integer.
func isLess(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// within gives the part of a whole of size bytes that a span means; length is zero when there is none.
func (s span) within(size uint64) (begin, length uint64) {
	switch {
	case s.suffix:
		length = min(s.last, size)
		return size - length, length
	case s.first >= size:
		return 0, 0
	}
	return s.first, min(s.last, size-1) - s.first + 1
}

// only gives the one range of several that lies in the whole; count says how many do.
func only(spans []span, size uint64) (begin, length uint64, count int) {
	for _, s := range spans {
		if b, n := s.within(size); n > 0 {
			begin, length = b, n
			count++
		}
	}
	return begin, length, count
}

// wish gives the part to ask a provider for first, which may be able to cut it. What counts from the end needs the
// length of the whole, which any part tells.
func wish(spans []span) (offset, length uint64) {
	switch {
	case len(spans) != 1 || spans[0].first > math.MaxInt64:
		return 0, slice
	case spans[0].suffix:
		return 0, 1
	}
	s := spans[0]
	return s.first, min(s.last-s.first, slice-1) + 1
}
