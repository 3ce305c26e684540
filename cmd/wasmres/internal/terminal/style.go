package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wasmres/wasmres/internal/textwidth"
)

// A Style is how text and figures are laid out.
type Style struct {
	Width int  // columns
	ASCII bool // uses no other characters
}

// UnknownWidth is the number of columns used if the output is no terminal.
const UnknownWidth = 80

// NewStyle returns the Style for an output: the width of a terminal, and ASCII unless the locale is UTF-8.
func NewStyle(w io.Writer) Style {
	return Style{Width: cmp.Or(Width(w), UnknownWidth), ASCII: !speaksUTF8()}
}

// speaksUTF8 reports whether the environment says that terminals show UTF-8.
func speaksUTF8() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return os.Getenv("TERM") != "dumb" && (strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8"))
}

// Either returns text, or ascii if s allows ASCII only.
func (s Style) Either(text, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return text
}

// Paragraph prints a name and, indent columns from the left, a text. It breaks lines between words, at the width of s.
func (s Style) Paragraph(w io.Writer, name string, indent int, text string) {
	line := name + strings.Repeat(" ", max(indent-textwidth.Of(name), 0))
	for i, word := range strings.Fields(text) {
		if i > 0 && textwidth.Of(line)+1+textwidth.Of(word) > s.Width {
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

// Figures prints rows with a name in the first cell and numbers, aligned to the right, in the others. It cuts names if the
// rows would be wider than s.
func (s Style) Figures(w io.Writer, rows [][]string) {
	widths := widthsOf(rows)
	left := s.Width
	for _, width := range widths[1:] {
		left -= width + ColumnGap
	}
	widths[0] = min(widths[0], max(left, MinWidth))
	for _, row := range rows {
		line := s.Clip(row[0], widths[0])
		line += strings.Repeat(" ", widths[0]-textwidth.Of(line))
		for i, cell := range row[1:] {
			line += strings.Repeat(" ", ColumnGap+widths[i+1]-textwidth.Of(cell)) + cell
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// Fit returns the rows without those last numbers that Figures would print beyond the width of s, for a screen that shows nothing there.
func (s Style) Fit(rows [][]string) [][]string {
	widths := widthsOf(rows)
	columns, left := 1, s.Width-min(widths[0], MinWidth)
	for _, width := range widths[1:] {
		if left -= width + ColumnGap; left < 0 {
			break
		}
		columns++
	}
	fitting := make([][]string, len(rows))
	for i, row := range rows {
		fitting[i] = row[:columns]
	}
	return fitting
}

// widthsOf returns the width of each column. The rows have as many cells as the first one.
func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], textwidth.Of(cell))
		}
	}
	return widths
}

// Clip shortens a text to a number of columns.
func (s Style) Clip(text string, columns int) string {
	return textwidth.Clip(text, columns, s.Either("…", "..."))
}
