package wasmrestest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// normal gives the one spelling by which the host knows a resource: characters beyond ASCII are percent-encoded, and
// escapes are in upper case.
func normal(uri string) string {
	var b strings.Builder
	for i := 0; i < len(uri); i++ {
		switch c := uri[i]; {
		case c >= utf8.RuneSelf:
			fmt.Fprintf(&b, "%%%02X", c)
		case c == '%' && i+2 < len(uri):
			b.WriteString(strings.ToUpper(uri[i : i+3]))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// disguised and a byte are a character of private use, which any value may hold.
const disguised = 0xF0000

var (
	separator = regexp.MustCompile(`(?i)[/\\]|%2F|%5C`)
	dot       = regexp.MustCompile(`(?i)\.|%2E`)
	dots      = regexp.MustCompile(`(?i)^(\.|%2E){1,2}$`)
	refused   = regexp.MustCompile("(?i)%[01][0-9A-F]|%7F|[\x00-\x20\x7F\"<>\\\\^`{|}]")
)

// disguise hides from the matching what the host refuses in a URI before it matches it, as dot segments, control
// characters and spaces, so that they reach the provider in the value of a variable; reveal brings them back.
func disguise(uri string) string {
	path := uri
	if end := strings.IndexAny(uri, "?#"); end >= 0 {
		path = uri[:end]
	}
	var b strings.Builder
	begin := 0
	for _, at := range append(separator.FindAllStringIndex(path, -1), []int{len(path), len(path)}) {
		part := path[begin:at[0]]
		if dots.MatchString(part) {
			part = dot.ReplaceAllString(part, string(rune(disguised+'.')))
		}
		b.WriteString(part + path[at[0]:at[1]])
		begin = at[1]
	}
	return refused.ReplaceAllStringFunc(b.String()+uri[len(path):], func(found string) string {
		c := found[0]
		if c == '%' {
			n, _ := strconv.ParseUint(found[1:], 16, 8) // which are two digits
			c = byte(n)
		}
		return string(rune(disguised) + rune(c))
	})
}

func reveal(value string) string {
	return strings.Map(func(r rune) rune {
		if r >= disguised && r < disguised+utf8.RuneSelf {
			return r - disguised
		}
		return r
	}, value)
}
