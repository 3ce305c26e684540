package inspect

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/textwidth"
)

const (
	sectionIndent = 15 // columns of the names in a section
	maxShown      = 12 // resources, and templates; JSON has all
)

// A sectionWriter prints names, each with a text beside it, in groups with an empty line between them.
type sectionWriter struct {
	terminal.Style
	w     io.Writer
	begun bool // something was printed
	gap   bool // the next row begins a group
}

// newSectionWriter returns one that wraps lines at the width of a terminal, and not at all if w is none.
func newSectionWriter(w io.Writer) *sectionWriter {
	s := &sectionWriter{Style: terminal.NewStyle(w), w: w}
	if terminal.Width(w) == 0 {
		s.Width = math.MaxInt32
	}
	return s
}

// group begins a group.
func (s *sectionWriter) group() { s.gap = s.begun }

// row prints a name and a text, which it wraps; nothing if the text is empty.
func (s *sectionWriter) row(name, format string, args ...any) {
	if text := printable.Line(terminal.OneSpace(fmt.Sprintf(format, args...))); text != "" {
		s.begin()
		s.Paragraph(s.w, name, sectionIndent, text)
	}
}

// rows prints a name and lines, which it cuts.
func (s *sectionWriter) rows(name string, lines []string) {
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		s.begin()
		fmt.Fprintf(s.w, "%-*s%s\n", sectionIndent, name, s.Clip(line, max(s.Width-sectionIndent, terminal.MinWidth)))
	}
}

// whole prints a name and a word, which it neither wraps nor cuts: a long word begins further to the left.
func (s *sectionWriter) whole(name, word string) {
	s.begin()
	indent := max(min(sectionIndent, s.Width-len(word)-1), len(name)+1)
	fmt.Fprintf(s.w, "%-*s%s\n", indent, name, word)
}

func (s *sectionWriter) begin() {
	if s.gap {
		fmt.Fprintln(s.w)
	}
	s.begun, s.gap = true, false
}

// aligned returns a line for each row, with the cells in columns.
func aligned(rows [][]string) (lines []string) {
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i] = printable.Line(terminal.OneSpace(row[i]))
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textwidth.Of(row[i]))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if widths[i] > 0 {
				line += cell + strings.Repeat(" ", widths[i]-textwidth.Of(cell)+terminal.ColumnGap)
			}
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}
