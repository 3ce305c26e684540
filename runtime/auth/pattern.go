package auth

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/pathpattern"
)

// A Pattern says which URIs a [Grant] is for: see [ParsePattern].
type Pattern struct{ compiled *pathpattern.Pattern }

// MaxPattern is the longest pattern, in bytes.
const MaxPattern = abi.MaxURI

// ParsePattern reads a pattern of URIs, as notes://drafts/**. It is written as the paths of policies are: a pattern without
// "*" is for the URI and all URIs below it; otherwise "*" stands for any part of a segment, "**" also for slashes, and the
// whole URI must match. Characters beyond ASCII, and escapes, are compared in the normal form of URIs.
func ParsePattern(s string) (Pattern, error) {
	if err := CheckPattern(s); err != nil {
		return Pattern{}, err
	}
	compiled, err := pathpattern.Compile(abi.NormalURI(s))
	if err != nil {
		return Pattern{}, fmt.Errorf("the pattern %.100q is not UTF-8", s)
	}
	return Pattern{compiled}, nil
}

// CheckPattern returns the error of [ParsePattern], for a fraction of its time.
func CheckPattern(s string) error {
	switch {
	case s == "":
		return errors.New("the pattern is empty: ** permits all URIs")
	case len(s) > MaxPattern:
		return fmt.Errorf("the pattern has %d bytes, at most %d are allowed", len(s), MaxPattern)
	case !utf8.ValidString(s):
		return fmt.Errorf("the pattern %.100q is not UTF-8", s)
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c == 0x7f {
			return fmt.Errorf("the pattern %.100q has a space or a control character", s)
		}
	}
	return nil
}

// AnyURI returns the pattern ** of all URIs.
func AnyURI() Pattern { return anyURI }

var anyURI = func() Pattern {
	p, err := ParsePattern("**")
	if err != nil {
		panic(err)
	}
	return p
}()

// String returns the pattern in normal form; empty for the zero Pattern, which matches nothing.
func (p Pattern) String() string {
	if p.compiled == nil {
		return ""
	}
	return p.compiled.String()
}
