package download

import (
	"math/big"
	"strings"
	"testing"
)

func TestRangesOfHugeNumbers(t *testing.T) {
	const size = 1000
	tests := []struct {
		header        string
		begin, length uint64
		malformed     bool
	}{
		{"bytes=-99999999999999999999", 0, size, false},
		{"bytes=-18446744073709551615", 0, size, false},
		{"bytes=-18446744073709551616", 0, size, false},
		{"bytes=-18446744073709551619", 0, size, false},
		{"bytes=18446744073709551615-", 0, 0, false},
		{"bytes=18446744073709551616-", 0, 0, false},
		{"bytes=18446744073709551619-", 0, 0, false},
		{"bytes=99999999999999999999999999999999-", 0, 0, false},
		{"bytes=990-18446744073709551619", 990, 10, false},
		{"bytes=990-99999999999999999999999999999999", 990, 10, false},
		{"bytes=000000000000000000000000000990-", 990, 10, false},
		{"bytes=18446744073709551618-18446744073709551619", 0, 0, false},
		{"bytes=18446744073709551619-18446744073709551618", 0, 0, true},
		{"bytes=18446744073709551619-3", 0, 0, true},
		{"bytes=0003-3", 3, 1, false},
	}
	for _, tt := range tests {
		ranges, ok := parseRange(tt.header)
		if ok == tt.malformed {
			t.Errorf("%s: got ok %v", tt.header, ok)
			continue
		}
		if begin, length, _ := singleRange(ranges, size); begin != tt.begin || length != tt.length {
			t.Errorf("%s: got %d bytes from %d, want %d from %d", tt.header, length, begin, tt.length, tt.begin)
		}
	}
}

// FuzzRangeNumbers compares each range of a header with one computed with unbounded integers.
func FuzzRangeNumbers(f *testing.F) {
	for _, set := range []string{
		"0-0", "-5", "9-", "5-2", "-99999999999999999999", "18446744073709551619-", "2-18446744073709551616", "-0",
		"18446744073709551619-18446744073709551618", " 2 - 5 , 7-", "-", "1-2-3", "+1-2", "٣-",
	} {
		f.Add(set, uint64(10))
		f.Add(set, ^uint64(0))
	}
	f.Fuzz(func(t *testing.T, set string, size uint64) {
		ranges, ok := parseRange("bytes=" + set)
		if offset, length := neededRange(ranges); length == 0 || length > partSize || offset+length < offset {
			t.Errorf("%q: asks for %d bytes from %d", set, length, offset)
		}
		var members []string
		for member := range strings.SplitSeq(set, ",") {
			if member = strings.Trim(member, " \t"); member != "" {
				members = append(members, member)
			}
		}
		if len(members) != 1 {
			return
		}
		begin, length, valid := exactRange(members[0], size)
		if ok != valid {
			t.Fatalf("%q: got ok %v, want %v", set, ok, valid)
		}
		if !ok {
			return
		}
		if b, n := ranges[0].within(size); b != begin && n != 0 || n != length {
			t.Errorf("%q of %d: got %d bytes from %d, want %d from %d", set, size, n, b, length, begin)
		}
	})
}

// exactRange returns the bytes of a resource of size bytes that one range covers (RFC 9110 §14.1.2).
func exactRange(text string, size uint64) (begin, length uint64, ok bool) {
	before, after, found := strings.Cut(text, "-")
	first, hasFirst := exactNumber(strings.TrimRight(before, " \t"))
	last, hasLast := exactNumber(strings.TrimLeft(after, " \t"))
	whole := new(big.Int).SetUint64(size)
	switch {
	case !found, !hasFirst && strings.TrimRight(before, " \t") != "", !hasLast && strings.TrimLeft(after, " \t") != "", !hasFirst && !hasLast:
		return 0, 0, false
	case !hasFirst:
		if last.Cmp(whole) > 0 {
			last = whole
		}
		return size - last.Uint64(), last.Uint64(), true
	case hasLast && last.Cmp(first) < 0:
		return 0, 0, false
	case first.Cmp(whole) >= 0:
		return 0, 0, true
	}
	end := new(big.Int).Sub(whole, big.NewInt(1))
	if hasLast && last.Cmp(end) < 0 {
		end = last
	}
	return first.Uint64(), end.Sub(end, first).Uint64() + 1, true
}

func exactNumber(digits string) (*big.Int, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}
	return new(big.Int).SetString(digits, 10)
}
