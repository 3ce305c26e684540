package httpcap

import (
	"io"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/runtime/capability/secret"
)

// A redactor replaces secrets by "[redacted]": as they are, in base64 at any alignment, in hexadecimal,
// percent-encoded, and escaped as in JSON and HTML. The nil redactor knows no secrets.
type redactor struct {
	texts *automaton // for texts of servers
	names *automaton // for names, in lower case
	reach int        // bytes of text after which it is known whether a secret begins at a place
}

// newRedactor makes a redactor, which takes about 256 bytes for each byte of the secrets; nil when there are none.
// Secrets must be printable ASCII of at least 8 bytes.
func newRedactor(secrets []string) *redactor {
	if len(secrets) == 0 {
		return nil
	}
	s := &redactor{}
	var patterns, names []pattern
	for _, text := range secrets {
		s.reach = max(s.reach, maxSpelling*len(text)+maxEnds+maxAhead)
		names = append(names, plain(strings.ToLower(text)))
		patterns = append(patterns, spellings(text)...)
	}
	s.texts, s.names = newAutomaton(patterns), newAutomaton(names)
	return s
}

// text redacts a whole text, and makes it UTF-8.
func (s *redactor) text(text string) string { return s.responseRedactor().text(text) }

// A responseRedactor redacts complete texts one after the other, and reuses its memory. That of the nil redactor knows
// no secrets.
type responseRedactor struct{ texts, names *scan }

func (s *redactor) responseRedactor() responseRedactor {
	if s == nil {
		return responseRedactor{}
	}
	return responseRedactor{newScan(s.texts, s.reach), newScan(s.names, s.reach)}
}

// text redacts a text, and makes it UTF-8.
func (c responseRedactor) text(text string) string {
	return strings.ToValidUTF8(c.texts.whole(text), "\uFFFD")
}

// named reports whether the name of a header field contains a secret, or is not UTF-8.
func (c responseRedactor) named(name string) bool {
	lower := strings.ToLower(name)
	return c.names.whole(lower) != lower || c.text(name) != name
}

// reader returns the redacted bytes of r. When r fails, it discards the last bytes, which may be the beginning of a
// secret.
func (s *redactor) reader(r io.Reader) io.Reader {
	if s == nil {
		return r
	}
	return &redactingReader{scan: newScan(s.texts, s.reach), src: r}
}

const maxRedactRead = 32 << 10 // bytes

type redactingReader struct {
	scan  *scan
	src   io.Reader
	out   []byte // redacted and not read yet
	clean []byte // the buffer of out
	err   error
}

func (r *redactingReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		r.fill(min(len(p), maxRedactRead))
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// fill reads at most size bytes, and redacts them.
func (r *redactingReader) fill(size int) {
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

// Scrubber returns a function that replaces secrets in texts by "[redacted]", in all forms in which responses are redacted, and
// makes the texts UTF-8. Of secrets that no capability accepts, since they are short or not printable, it replaces the plain
// form alone. Many goroutines may call it.
func Scrubber(secrets []string) func(text string) string {
	var known, odd []string
	for _, s := range secrets {
		switch {
		case s == "":
		case checkSecret(secret.New(s)) == nil:
			known = append(known, s)
		default:
			odd = append(odd, s, secret.Redacted)
		}
	}
	slices.Sort(known)
	r, plainly := newRedactor(slices.Compact(known)), strings.NewReplacer(odd...)
	return func(text string) string { return r.text(plainly.Replace(text)) }
}
