package approval

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/printable"
)

const (
	maxName = 64 // runes
	maxText = 200
)

// escape returns an untrusted text for a terminal: on one line, cut to most characters, with invisible characters
// escaped, and with at most two combining marks in a row, which would otherwise cover other lines.
func escape(s string, most int) string {
	var b strings.Builder
	n, marks := 0, 0
	for _, word := range strings.Fields(s) {
		if n > 0 {
			b.WriteByte(' ')
		}
		for _, r := range printable.Line(word) {
			if n++; n > most {
				return b.String() + "…"
			}
			if marks++; !unicode.Is(unicode.M, r) {
				marks = 0
			}
			if marks <= 2 {
				b.WriteRune(r)
			}
		}
		n++
	}
	return b.String()
}

// escapeAll is escape without a bound, for a text that the user approves.
func escapeAll(s string) string { return escape(s, math.MaxInt) }

// wrap breaks a text into lines of at most width columns, each with the indent, so that the terminal breaks none: no
// untrusted text is ever at the left margin.
func wrap(text, indent string, width int) (lines []string) {
	room := max(width-utf8.RuneCountInString(indent)-1, 10)
	line, used := "", 0
	flush := func() {
		lines = append(lines, indent+strings.TrimRight(line, " "))
		line, used = "", 0
	}
	for _, word := range strings.Fields(text) {
		if used > 0 && used+1+columns(word) > room {
			flush()
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for _, r := range word {
			if used+columnsOf(r) > room {
				flush()
			}
			line, used = line+string(r), used+columnsOf(r)
		}
	}
	if used > 0 {
		flush()
	}
	return lines
}

// hangingIndent is wrap with the first line at the margin, for a text that begins with trusted words.
func hangingIndent(text string, width int) []string {
	lines := wrap(text, "  ", width)
	if len(lines) > 0 {
		lines[0] = strings.TrimPrefix(lines[0], "  ")
	}
	return lines
}

func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns the most columns that a terminal uses for a character.
func columnsOf(r rune) int {
	if r < 0x1100 {
		return 1
	}
	return 2
}
