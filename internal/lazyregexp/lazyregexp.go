// Package lazyregexp has regular expressions that are compiled when they are first used. Every worker process runs the
// initialisation of all packages of the program, and uses none of their expressions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// A Regexp is a regular expression. It is safe for concurrent use. Make it with [New].
type Regexp struct {
	text    string
	compile func() *regexp.Regexp
}

// New makes a Regexp. The first use panics if text is not a regular expression; a test uses each.
func New(text string) *Regexp {
	return &Regexp{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp { return r.compile() }

// MatchString is that of [regexp.Regexp].
func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

// String returns the text of the expression.
func (r *Regexp) String() string { return r.text }
