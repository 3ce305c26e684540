// Package pathpattern matches paths, URIs and names of repositories against the patterns of policies.
package pathpattern

import (
	"regexp"
	"strings"
)

// A Pattern is a compiled pattern. It is immutable, safe for concurrent use, and takes linear time on any text.
type Pattern struct {
	text string
	head string // what precedes the first "*"; without a trailing slash if there is no "*"
	re   *regexp.Regexp
}

// Compile reads a pattern. One without "*" matches itself and everything below it, after a slash. In any other, "*" matches
// any part of a segment, "**" also slashes, and the whole text must match. The error is for a pattern that is not UTF-8.
func Compile(pattern string) (*Pattern, error) {
	re, err := regexp.Compile(expression(pattern))
	if err != nil {
		return nil, err
	}
	head, _, star := strings.Cut(pattern, "*")
	if !star {
		head = strings.TrimSuffix(head, "/")
	}
	return &Pattern{text: pattern, head: head, re: re}, nil
}

// String gives the pattern as it was given to Compile.
func (p *Pattern) String() string { return p.text }

// Match reports whether the pattern matches text.
func (p *Pattern) Match(text string) bool { return p.re.MatchString(text) }

// MayMatch reports whether the pattern could match a text that begins with head. It may report true although no text does.
func (p *Pattern) MayMatch(head string) bool {
	n := min(len(head), len(p.head))
	return head[:n] == p.head[:n]
}

// expression translates a pattern to a regular expression.
func expression(pattern string) string {
	if !strings.Contains(pattern, "*") {
		return `^` + regexp.QuoteMeta(strings.TrimSuffix(pattern, "/")) + `(?:/|$)`
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for pattern != "" {
		literal, rest, star := strings.Cut(pattern, "*")
		b.WriteString(regexp.QuoteMeta(literal))
		deeper := strings.HasPrefix(rest, "*")
		switch {
		case deeper:
			b.WriteString(`.*`)
		case star:
			b.WriteString(`[^/]*`)
		}
		pattern = strings.TrimPrefix(rest, "*")
	}
	b.WriteString(`$`)
	return b.String()
}
