package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// A Style is how figures are drawn.
type Style struct {
	Width int  // columns there are
	ASCII bool // with these characters only
}

const UnknownWidth = 80 // columns, where there is no terminal to ask

func NewStyle(w io.Writer) Style {
	return Style{Width: cmp.Or(Width(w), UnknownWidth), ASCII: !speaksUTF8()}
}

// speaksUTF8 reports whether what is printed is shown as UTF-8.
func speaksUTF8() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return os.Getenv("TERM") != "dumb" && (strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8"))
}

// Either gives a text, or what stands for it where there is only ASCII.
func (s Style) Either(text, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return text
}

// Paragraph prints a name and a text beside it, whose lines end where the columns do, between words.
func (s Style) Paragraph(w io.Writer, name string, indent int, text string) {
	line := name + strings.Repeat(" ", max(indent-utf8.RuneCountInString(name), 0))
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > s.Width {
			fmt.Fprintln(w, line)
			line, i = strings.Repeat(" ", indent), 0
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// Figures prints rows whose first cell is a name, cut where the row would be too wide, and the others numbers.
func (s Style) Figures(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	left := s.Width
	for _, width := range widths[1:] {
		left -= width + ColumnGap
	}
	widths[0] = min(widths[0], max(left, MinWidth))
	for _, row := range rows {
		line := s.Clip(row[0], widths[0])
		line += strings.Repeat(" ", widths[0]-utf8.RuneCountInString(line))
		for i, cell := range row[1:] {
			line += strings.Repeat(" ", ColumnGap+widths[i+1]-utf8.RuneCountInString(cell)) + cell
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// Clip shortens a text to so many columns.
func (s Style) Clip(text string, columns int) string {
	if s.ASCII && utf8.RuneCountInString(text) > columns {
		return string([]rune(text)[:max(columns-3, 0)]) + "..."
	}
	return Clip(text, columns)
}
