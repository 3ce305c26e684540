package httpcap

import (
	"bytes"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A scrubber replaces secrets by "[redacted]": as they are, in base64 at any alignment, in hexadecimal,
// percent-encoded, and escaped as in JSON and HTML. The nil scrubber knows no secrets.
type scrubber struct {
	patterns []pattern
	first    [256]bool // bytes any of them may begin with
	reach    int       // bytes that tell of any place whether it is the beginning of a secret
	lower    []string  // the secrets, for what does not keep its case
}

// A pattern is one way to write a secret. match says how many bytes at the start of b are the secret, written that way,
// 0 if they are not; more says that it may be otherwise, or more of them, with what follows b.
type pattern interface {
	match(b []byte) (n int, more bool)
}

// newScrubber makes a scrubber; nil when there are no secrets.
func newScrubber(texts []string) *scrubber {
	if len(texts) == 0 {
		return nil
	}
	s := &scrubber{}
	for _, text := range texts {
		s.reach = max(s.reach, maxSpelling*len(text)+maxEscape)
		s.lower = append(s.lower, strings.ToLower(text))
		s.patterns = append(s.patterns, exact(text), escaped(text), hexadecimal(text))
		for shift := range 3 {
			s.patterns = append(s.patterns, newBase64(text, shift))
		}
	}
	for c := range s.first {
		for _, p := range s.patterns {
			n, more := p.match([]byte{byte(c)})
			s.first[c] = s.first[c] || n > 0 || more
		}
	}
	return s
}

// text scrubs a whole text, and makes it UTF-8.
func (s *scrubber) text(text string) string {
	if s != nil {
		clean, _ := s.scan(nil, []byte(text), true)
		text = string(clean)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// scan appends b to dst, with the secrets in it replaced. Unless b is the last, it leaves some bytes at its end. How many
// does not depend on what they are: who sees how much is kept back must not learn how a secret begins.
func (s *scrubber) scan(dst, b []byte, last bool) (clean, left []byte) {
	end := len(b)
	if !last {
		end = max(0, end-s.reach)
	}
	from := 0 // what has not been appended yet
	for i := 0; i < end; i++ {
		if !s.first[b[i]] {
			continue
		}
		if n := s.match(b[i:]); n > 0 {
			dst = append(append(dst, b[from:i]...), secret.Redacted...)
			from = i + n
			i = from - 1
		}
	}
	end = max(end, from)
	return append(dst, b[from:end]...), b[end:]
}

func (s *scrubber) match(b []byte) (n int) {
	for _, p := range s.patterns {
		k, _ := p.match(b)
		n = max(n, k)
	}
	return n
}

// reader gives what r has, scrubbed. When r fails, what may be the beginning of a secret is not given any more.
func (s *scrubber) reader(r io.Reader) io.Reader {
	if s == nil {
		return r
	}
	return &scrubbed{scrubber: s, src: r}
}

const scrubAtOnce = 32 << 10 // bytes

type scrubbed struct {
	scrubber *scrubber
	src      io.Reader
	in       []byte // read, and kept back
	out      []byte // scrubbed, and to be read
	clean    []byte // the buffer out is in
	err      error
}

func (r *scrubbed) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		r.fill(min(len(p), scrubAtOnce))
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// fill reads at most size bytes more, and scrubs what there is.
func (r *scrubbed) fill(size int) {
	kept := len(r.in)
	r.in = slices.Grow(r.in, size)
	n, err := r.src.Read(r.in[kept : kept+size])
	r.in, r.err = r.in[:kept+n], err
	if err != nil && err != io.EOF {
		r.in = nil
		return
	}
	var left []byte
	r.clean, left = r.scrubber.scan(r.clean[:0], r.in, err == io.EOF)
	r.out = r.clean
	r.in = r.in[:copy(r.in, left)]
}

// exact is the secret as it is.
type exact string

func (e exact) match(b []byte) (n int, more bool) {
	if len(b) < len(e) {
		return 0, bytes.HasPrefix([]byte(e), b)
	}
	if string(b[:len(e)]) == string(e) {
		return len(e), false
	}
	return 0, false
}

// hexadecimal is the secret with two digits for each byte, in either case.
type hexadecimal string

func (h hexadecimal) match(b []byte) (n int, more bool) {
	for i := range min(len(b), 2*len(h)) {
		want := h[i/2] >> 4
		if i%2 == 1 {
			want = h[i/2] & 15
		}
		if got, ok := digit(b[i]); !ok || got != want {
			return 0, false
		}
	}
	if len(b) < 2*len(h) {
		return 0, true
	}
	return 2 * len(h), false
}

func digit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// base64 is the secret within something longer that is in base64, of either alphabet. Of the characters at its ends
// only some bits belong to it. Characters may be escaped, and line ends in between.
type base64 []sextet

// A sextet is what a character stands for, as far as mask goes.
type sextet struct{ bits, mask byte }

// newBase64 makes the pattern for a secret that begins shift bytes after a multiple of three.
func newBase64(text string, shift int) base64 {
	first, end := shift*8, (shift+len(text))*8
	var p base64
	for at := first / 6 * 6; at < end; at += 6 {
		var s sextet
		for bit := at; bit < at+6; bit++ {
			s.bits, s.mask = s.bits<<1, s.mask<<1
			if k := bit - first; k >= 0 && bit < end {
				s.bits |= text[k/8] >> (7 - k%8) & 1
				s.mask |= 1
			}
		}
		p = append(p, s)
	}
	return p
}

const maxLineEnd = 2 // of "\r" and "\n"

func (p base64) match(b []byte) (n int, more bool) {
	ends := 0
	for _, want := range p {
		for n > 0 && ends < maxLineEnd {
			k := lineEnd(b[n:])
			if k == 0 {
				break
			}
			n += k
			ends++
		}
		c, k, open := character(b[n:])
		if open {
			return 0, true
		}
		got, ok := sextetOf(c)
		if !ok || got&want.mask != want.bits {
			return 0, false
		}
		n += k
		ends = 0
	}
	return n, false
}

func sextetOf(c byte) (byte, bool) {
	switch {
	case 'A' <= c && c <= 'Z':
		return c - 'A', true
	case 'a' <= c && c <= 'z':
		return c - 'a' + 26, true
	case '0' <= c && c <= '9':
		return c - '0' + 52, true
	case c == '+' || c == '-':
		return 62, true
	case c == '/' || c == '_':
		return 63, true
	}
	return 0, false
}

// escaped is the secret with any of its bytes escaped, as in URLs, JSON or HTML. What begins an escape may also stand
// for itself, so there can be several ways to read the same bytes: all of them are followed.
type escaped string

// maxWays are followed. There are more than some only of secrets of percent signs and backslashes.
const maxWays = 32

func (e escaped) match(b []byte) (n int, more bool) {
	var room, other [4]int
	ends, next := append(room[:0], 0), other[:0] // where the ways have come to
	for i := range len(e) {
		next = next[:0]
		for _, at := range ends {
			if at == len(b) {
				more = true
				continue
			}
			if b[at] == e[i] && !slices.Contains(next, at+1) {
				next = append(next, at+1)
			}
			set, open := escape(b[at:], e[i])
			for ; set != 0; set &= set - 1 {
				if k := at + bits.TrailingZeros16(uint16(set)); len(next) < maxWays && !slices.Contains(next, k) {
					next = append(next, k)
				}
			}
			more = more || open
		}
		if ends, next = next, ends; len(ends) == 0 {
			return 0, more
		}
	}
	return slices.Max(ends), more
}
