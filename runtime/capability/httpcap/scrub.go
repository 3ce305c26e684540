package httpcap

import (
	"io"
	"slices"
	"strings"
)

// A scrubber replaces secrets by "[redacted]": as they are, in base64 at any alignment, in hexadecimal,
// percent-encoded, and escaped as in JSON and HTML. The nil scrubber knows no secrets.
type scrubber struct {
	texts *automaton // for what servers write
	names *automaton // for what has lost its case
	reach int        // bytes that tell of any place whether it is the beginning of a secret
}

// newScrubber makes a scrubber, of some 256 bytes for each byte of the secrets; nil when there are none. They are of
// printable ASCII, and of 8 bytes or more.
func newScrubber(secrets []string) *scrubber {
	if len(secrets) == 0 {
		return nil
	}
	s := &scrubber{}
	var patterns, names []pattern
	for _, text := range secrets {
		s.reach = max(s.reach, maxSpelling*len(text)+maxEnds+maxAhead)
		names = append(names, plain(strings.ToLower(text)))
		patterns = append(patterns, spellings(text)...)
	}
	s.texts, s.names = newAutomaton(patterns), newAutomaton(names)
	return s
}

// text scrubs a whole text, and makes it UTF-8.
func (s *scrubber) text(text string) string { return s.cleaner().text(text) }

// A cleaner scrubs whole texts, one after the other, in the same memory. That of the nil scrubber knows no secrets.
type cleaner struct{ texts, names *scan }

func (s *scrubber) cleaner() cleaner {
	if s == nil {
		return cleaner{}
	}
	return cleaner{newScan(s.texts, s.reach), newScan(s.names, s.reach)}
}

// text scrubs a text, and makes it UTF-8.
func (c cleaner) text(text string) string { return strings.ToValidUTF8(c.texts.whole(text), "\uFFFD") }

// named reports whether the name of a header field has a secret in it, or is not UTF-8.
func (c cleaner) named(name string) bool {
	lower := strings.ToLower(name)
	return c.names.whole(lower) != lower || c.text(name) != name
}

// reader gives what r has, scrubbed. When r fails, what may be the beginning of a secret is not given any more.
func (s *scrubber) reader(r io.Reader) io.Reader {
	if s == nil {
		return r
	}
	return &scrubbed{scan: newScan(s.texts, s.reach), src: r}
}

const scrubAtOnce = 32 << 10 // bytes

type scrubbed struct {
	scan  *scan
	src   io.Reader
	out   []byte // scrubbed, and to be read
	clean []byte // the buffer out is in
	err   error
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
	text := slices.Grow(r.scan.text, size)
	n, err := r.src.Read(text[len(text) : len(text)+size])
	r.scan.text, r.err = text[:len(text)+n], err
	if err != nil && err != io.EOF {
		r.scan = nil
		return
	}
	r.clean = r.scan.next(r.clean[:0], err == io.EOF)
	r.out = r.clean
}
