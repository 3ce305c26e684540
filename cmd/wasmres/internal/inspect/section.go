package inspect

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
)

const (
	sectionIndent = 15 // columns of the names on a sheet
	maxShown      = 12 // resources, and templates; JSON has all
)

// A sectionWriter is a text of names with what there is to say of each, in groups.
type sectionWriter struct {
	terminal.Style
	w     io.Writer
	begun bool // something stands above
	gap   bool // a group begins
}

// newSectionWriter fits the terminal. Where nobody looks, lines are as long as they are.
func newSectionWriter(w io.Writer) *sectionWriter {
	s := &sectionWriter{Style: terminal.NewStyle(w), w: w}
	if terminal.Width(w) == 0 {
		s.Width = math.MaxInt32
	}
	return s
}

func (s *sectionWriter) group() { s.gap = s.begun }

// row prints one name and a text, which is wrapped; nothing when there is no text.
func (s *sectionWriter) row(name, format string, args ...any) {
	if text := printable.Line(terminal.OneSpace(fmt.Sprintf(format, args...))); text != "" {
		s.begin()
		s.Paragraph(s.w, name, sectionIndent, text)
	}
}

// rows prints one name and lines, which are cut.
func (s *sectionWriter) rows(name string, lines []string) {
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		s.begin()
		fmt.Fprintf(s.w, "%-*s%s\n", sectionIndent, name, s.Clip(line, max(s.Width-sectionIndent, terminal.MinWidth)))
	}
}

// whole prints one name and a word of which nothing may be missing: it moves to the left where it must.
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

// aligned makes columns of cells.
func aligned(rows [][]string) (lines []string) {
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i] = printable.Line(terminal.OneSpace(row[i]))
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if widths[i] > 0 {
				line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+terminal.ColumnGap)
			}
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}
