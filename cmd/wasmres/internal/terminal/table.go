package terminal

import (
	"bufio"
	"io"
	"strings"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/textwidth"
)

// A Table prints rows in columns when it is flushed: the widths of columns depend on all rows.
type Table struct {
	w    io.Writer
	rows [][]string
}

// NewTable returns a Table on w with a first row, unless head is empty.
func NewTable(w io.Writer, head ...string) *Table {
	t := &Table{w: w}
	if len(head) > 0 {
		t.Row(head...)
	}
	return t
}

// Row adds one row. Each cell becomes one line without control characters.
func (t *Table) Row(cells ...string) {
	row := make([]string, 0, len(cells))
	for _, c := range cells {
		row = append(row, Cell(c))
	}
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	t.rows = append(t.rows, row)
}

// Cell returns a text as one line without control characters.
func Cell(s string) string { return printable.Line(OneSpace(s)) }

// OneSpace replaces each run of white space by one space, and removes it from both ends.
func OneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// Flush prints the rows, and forgets them. Nothing follows the last cell of a row, so that its width does not count.
func (t *Table) Flush() error {
	var widths []int
	for _, row := range t.rows {
		for i := range max(len(row)-1, 0) {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textwidth.Of(row[i]))
		}
	}
	out := bufio.NewWriter(t.w)
	for _, row := range t.rows {
		for i, cell := range row {
			if i < len(row)-1 {
				cell = textwidth.Pad(cell, widths[i]+ColumnGap)
			}
			_, _ = out.WriteString(cell) // Flush returns its error
		}
		_ = out.WriteByte('\n')
	}
	t.rows = nil
	return out.Flush()
}

// PrintTable prints a list. The last cell of each row is a description, which is cut to the width of a terminal.
func PrintTable(w io.Writer, head []string, rows [][]string) error {
	cutLast(append([][]string{head}, rows...), Width(w))
	t := NewTable(w, head...)
	for _, r := range rows {
		t.Row(r...)
	}
	return t.Flush()
}

const (
	ColumnGap = 2  // spaces between columns
	MinWidth  = 20 // columns of a cut cell: a shorter text says nothing, so that the terminal wraps the line instead
)

// cutLast cuts the last cell of each row so that rows are no wider than width. A width of 0 is unknown and cuts nothing.
func cutLast(rows [][]string, width int) {
	if width <= 0 {
		return
	}
	last := len(rows[0]) - 1
	for i := range last {
		column := 0
		for _, r := range rows {
			column = max(column, textwidth.Of(Cell(r[i])))
		}
		width -= column + ColumnGap
	}
	for _, r := range rows {
		r[last] = Clip(Cell(r[last]), max(width, MinWidth))
	}
}
