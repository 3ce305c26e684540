package download

import (
	"math"
	"strings"
)

// maxRanges bounds the ranges of a Range header that is answered with a range.
const maxRanges = 16

// A byteRange is one range of a Range header.
type byteRange struct {
	first, last uint64 // both included; last is math.MaxUint64 for all that follow
	suffix      bool   // the last bytes of the resource, as many as last says; first is zero
}

// parseRange reads a Range header (RFC 9110, section 14.1.2). There are no ranges when it is absent, of another unit, or
// has too many: such a header is ignored. ok is false when the header is malformed.
func parseRange(value string) (ranges []byteRange, ok bool) {
	unit, set, found := strings.Cut(value, "=")
	if !found || !strings.EqualFold(unit, "bytes") {
		return nil, true
	}
	for text := range strings.SplitSeq(set, ",") {
		text = strings.Trim(text, " \t")
		if text == "" {
			continue // lists may have empty members
		}
		s, ok := parseByteRange(text)
		if !ok {
			return nil, false
		}
		if len(ranges) == maxRanges {
			return nil, true
		}
		ranges = append(ranges, s)
	}
	return ranges, true
}

func parseByteRange(text string) (s byteRange, ok bool) {
	first, last, found := strings.Cut(text, "-")
	first, last = strings.TrimRight(first, " \t"), strings.TrimLeft(last, " \t")
	if !found || first == "" && last == "" {
		return byteRange{}, false
	}
	s = byteRange{suffix: first == "", last: math.MaxUint64}
	if first != "" {
		if s.first, ok = parseDigits(first); !ok {
			return byteRange{}, false
		}
	}
	if last != "" {
		if s.last, ok = parseDigits(last); !ok {
			return byteRange{}, false
		}
	}
	return s, s.suffix || last == "" || !isLess(last, first)
}

// parseDigits reads a number of any length. One too large for n is math.MaxUint64.
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

// isLess compares two numbers of any length.
func isLess(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// within returns the bytes of a resource of size bytes that a range covers; length is zero when there are none.
func (s byteRange) within(size uint64) (begin, length uint64) {
	switch {
	case s.suffix:
		length = min(s.last, size)
		return size - length, length
	case s.first >= size:
		return 0, 0
	}
	return s.first, min(s.last, size-1) - s.first + 1
}

// singleRange returns the range that lies in a resource of size bytes; count says how many do.
func singleRange(ranges []byteRange, size uint64) (begin, length uint64, count int) {
	for _, s := range ranges {
		if b, n := s.within(size); n > 0 {
			begin, length = b, n
			count++
		}
	}
	return begin, length, count
}

// neededRange returns the range to ask a provider for first. A range that counts from the end needs the length of the
// resource, which comes with any range.
func neededRange(ranges []byteRange) (offset, length uint64) {
	switch {
	case len(ranges) != 1 || ranges[0].first > math.MaxInt64:
		return 0, partSize
	case ranges[0].suffix:
		return 0, 1
	}
	s := ranges[0]
	return s.first, min(s.last-s.first, partSize-1) + 1
}
