// Package textwidth counts the columns of text on a terminal: a wide character, as of Chinese or an emoji, has two, and a
// combining mark none. No other package imports displaywidth.
//
// Texts of others are made printable before: a control character counts as nothing here.
package textwidth

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Of returns the columns of a line.
func Of(line string) int { return displaywidth.String(line) }

// WithoutStyles returns a line without the escape sequences that style it, the only ones it may have: each ends in m.
func WithoutStyles(line string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, line, _ = strings.Cut(after, "m")
	}
}

// Clip shortens a line to a number of columns, of which tail then is the end. It divides no character.
func Clip(line string, columns int, tail string) string {
	if columns <= 0 {
		return ""
	}
	if Of(tail) > columns {
		tail = ""
	}
	return displaywidth.TruncateString(line, columns, tail)
}

// Pad returns a line with spaces after it, so that it has at least a number of columns.
func Pad(line string, columns int) string {
	return line + strings.Repeat(" ", max(columns-Of(line), 0))
}

// Cut divides a line: head has as many characters as fit into a number of columns, and at least one.
func Cut(line string, columns int) (head, rest string) {
	used, at := 0, 0
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		used += g.Width()
		if used > columns && at > 0 {
			break
		}
		at += len(g.Value())
	}
	return line[:at], line[at:]
}
