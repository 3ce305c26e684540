package abi

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURI is the length of the longest resource URI, in bytes of its normal form: see [NormalURI].
const MaxURI = 2048

// A URI is a string that [CheckURI] accepts, in two spellings. The zero URI is none; [ParseURI] and [MustParseURI] make
// all others. A function that takes a URI need not check it.
type URI struct{ given, normal string }

// ParseURI checks a URI. An error is an [Error] of [CodeInvalidParams] that says what is wrong and at which byte.
func ParseURI(s string) (URI, error) {
	if err := CheckURI(s); err != nil {
		return URI{}, Errorf(CodeInvalidParams, "%v", err)
	}
	return URI{s, NormalURI(s)}, nil
}

// MustParseURI is ParseURI for a URI that is a constant: it panics when that is invalid.
func MustParseURI(s string) URI {
	u, err := ParseURI(s)
	if err != nil {
		panic(err)
	}
	return u
}

// String returns the URI as it was given.
func (u URI) String() string { return u.given }

// Folded returns the URI as [FoldURI] does, for templates to match and for the guest.
func (u URI) Folded() string { return FoldURI(u.given) }

// Normal returns the URI as [NormalURI] does. Two URIs name the same resource if this is equal.
func (u URI) Normal() string { return u.normal }

// IsZero reports whether there is no URI.
func (u URI) IsZero() bool { return u.given == "" }

// CheckURI reports why uri cannot name a resource; nil if it can. It accepts RFC 3986 with the non-ASCII characters of
// RFC 3987. It refuses characters that a check and a later program may read differently: control and format characters,
// spaces, and, before the query, dot segments, encoded slashes and encoded backslashes.
//
// A segment is whatever stands between slashes after the colon of the scheme,
// so that "test:.." and "x://../y" have dot segments too.
//
// An encoded format character is fine (file names have them, emoji for one),
// and so are encoded octets that are not UTF-8, except overlong forms.
//
// The error says what is wrong and at which byte; it quotes at most 64 bytes.
func CheckURI(uri string) error {
	if uri == "" {
		return fmt.Errorf("uri is empty")
	}
	c := uriCheck{uri: uri}
	if normalLength(uri) > MaxURI {
		return c.fault(min(len(uri), MaxURI), "longer than %d bytes, counting a byte beyond ASCII as three", MaxURI)
	}
	begin, err := c.scheme()
	if err != nil {
		return err
	}
	if begin == len(uri) {
		return c.fault(begin, "nothing after the scheme")
	}
	if err := c.characters(begin); err != nil {
		return err
	}
	end := len(uri)
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		end = i
	}
	return c.segments(begin, end)
}

// A uriCheck is one run of CheckURI.
type uriCheck struct{ uri string }

// fault says what is wrong at a byte of the URI.
func (c uriCheck) fault(at int, format string, args ...any) error {
	const most = 64 // bytes of the URI in an error
	quoted := fmt.Sprintf("%q", c.uri[:min(len(c.uri), most)])
	if len(c.uri) > most {
		quoted += "..."
	}
	return fmt.Errorf("uri %s: byte %d: %s", quoted, at, fmt.Sprintf(format, args...))
}

// scheme returns where the rest begins, after the colon.
func (c uriCheck) scheme() (int, error) {
	for i := range len(c.uri) {
		b := c.uri[i]
		letter := 'a' <= b|0x20 && b|0x20 <= 'z'
		switch {
		case letter:
		case i > 0 && b == ':':
			return i + 1, nil
		case i > 0 && ('0' <= b && b <= '9' || strings.IndexByte("+-.", b) >= 0):
		case i == 0:
			return 0, c.fault(i, "a scheme begins with a letter")
		default:
			return 0, c.fault(i, "want a scheme of letters, digits, and any of \"+-.\", then a colon")
		}
	}
	return 0, c.fault(len(c.uri), "no colon after the scheme")
}

// characters checks every character from begin on.
func (c uriCheck) characters(begin int) error {
	path, query := true, false
	for i := begin; i < len(c.uri); {
		r, size := utf8.DecodeRuneInString(c.uri[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return c.fault(i, "invalid UTF-8")
		case r == '?' && path:
			path, query = false, true
		case r == '#':
			path, query = false, false
		case r == '%':
			if err := c.escape(i, path); err != nil {
				return err
			}
			size = 3
		case !isURIChar(r, query):
			return c.fault(i, "character %U is not allowed", r)
		}
		i += size
	}
	return nil
}

// isURIChar reports whether r may stand in a URI as it is. Private characters
// may in a query only (RFC 3987 section 2.2).
func isURIChar(r rune, query bool) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' ' && r < 0x7f && !strings.ContainsRune("<>\"{}|\\^`", r)
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z):
		return false
	case unicode.Is(unicode.Co, r):
		return query
	case 0xfdd0 <= r && r <= 0xfdef, 0xfff0 <= r && r <= 0xffff, r&0xfffe == 0xfffe:
		return false // noncharacters and specials
	}
	return r < 0xe0000 || r >= 0xe1000 // tags and their like
}

// escape checks the percent sign at i and what it encodes.
func (c uriCheck) escape(i int, path bool) error {
	b, ok := c.octet(i)
	if !ok {
		return c.fault(i, "percent sign without two hex digits")
	}
	next, ok := c.octet(i + 3)
	switch {
	case b < 0x20 || b == 0x7f || b == 0xc2 && ok && 0x80 <= next && next <= 0x9f:
		return c.fault(i, "encoded control character")
	case path && b == '/':
		return c.fault(i, "encoded slash")
	case path && b == '\\':
		return c.fault(i, "encoded backslash")
	case b == 0xc0 || b == 0xc1,
		b == 0xe0 && ok && 0x80 <= next && next < 0xa0,
		b == 0xf0 && ok && 0x80 <= next && next < 0x90:
		return c.fault(i, "overlong encoding of a character")
	}
	return nil
}

// octet returns what is encoded as %XX at i, if anything is.
func (c uriCheck) octet(i int) (b byte, ok bool) {
	if i+3 > len(c.uri) || c.uri[i] != '%' {
		return 0, false
	}
	for _, digit := range []byte(c.uri[i+1 : i+3]) {
		b <<= 4
		switch lower := digit | 0x20; {
		case '0' <= digit && digit <= '9':
			b |= digit - '0'
		case 'a' <= lower && lower <= 'f':
			b |= lower - 'a' + 10
		default:
			return 0, false
		}
	}
	return b, true
}

// segments checks that there is no dot segment between begin and end.
func (c uriCheck) segments(begin, end int) error {
	for begin <= end {
		next := end
		if i := strings.IndexByte(c.uri[begin:end], '/'); i >= 0 {
			next = begin + i
		}
		if isDotSegment(c.uri[begin:next]) {
			return c.fault(begin, "dot segment")
		}
		begin = next + 1
	}
	return nil
}

// isDotSegment reports whether a segment is "." or "..", encoded or not.
func isDotSegment(segment string) bool {
	dots := 0
	for segment != "" {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return false
		}
		dots++
	}
	return dots == 1 || dots == 2
}

// NormalURI returns the normal form of uri, which [CheckURI] accepts, or which is the text of a template: an RFC 3986 URI,
// folded as [FoldURI] does, with escapes in upper case, in which characters beyond ASCII are percent-encoded as in RFC
// 3987 section 3.1. Clients get URIs in this form; guests may use either.
func NormalURI(uri string) string {
	uri = FoldURI(uri)
	at := 0
	for at < len(uri) && uri[at] != '%' && uri[at] < utf8.RuneSelf {
		at++
	}
	if at == len(uri) {
		return uri
	}
	const hex = "0123456789ABCDEF"
	b := append(make([]byte, 0, len(uri)+len(uri)/2), uri[:at]...)
	for i := at; i < len(uri); i++ {
		switch c := uri[i]; {
		case c >= utf8.RuneSelf:
			b = append(b, '%', hex[c>>4], hex[c&15])
		case c == '%' && i+2 < len(uri):
			b = append(b, strings.ToUpper(uri[i:i+3])...)
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// normalLength is len(NormalURI(uri)).
func normalLength(uri string) int {
	n := len(uri)
	for i := range len(uri) {
		if uri[i] >= utf8.RuneSelf {
			n += 2
		}
	}
	return n
}
