// Package printable makes foreign text safe to show to a person.
//
// What a provider, a compiler or a file says may hold characters that steer a terminal, change the direction of writing,
// or are not seen. Each of them is shown as its Go escape sequence, as in \x1b or \u202e.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r must not reach a person as it is: a control character, a mark of direction or of invisible
// width (the joiners included), a line or paragraph separator, a filler, or a code point without a character.
func Hidden(r rune) bool {
	switch r {
	case '\u3164', '\u115f', '\u1160', '\uffa0', '\u2800': // fillers: graphic characters that show nothing
		return true
	}
	return !unicode.IsGraphic(r) || r == '\u034f' || '\U000e0000' <= r && r <= '\U000e0fff' || isMongolianSelector(r)
}

// isMongolianSelector reports whether r is one of the marks of Mongolian that show nothing by themselves.
func isMongolianSelector(r rune) bool { return '\u180b' <= r && r <= '\u180f' }

// Escape returns the escape sequence of a character.
func Escape(r rune) string {
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// Line returns s as one line: whatever is hidden is escaped, line breaks included, and tabs are kept. A byte that is no
// UTF-8 becomes as \xff.
func Line(s string) string { return escape(s, func(r rune) bool { return r != '\t' && Hidden(r) }) }

// Text returns s like Line, but keeps line breaks, and the two joiners that several scripts and emoji are written with.
func Text(s string) string {
	return escape(s, func(r rune) bool {
		return r != '\n' && r != '\t' && r != '\u200c' && r != '\u200d' && Hidden(r)
	})
}

func escape(s string, hidden func(rune) bool) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case hidden(r):
			b.WriteString(Escape(r))
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
