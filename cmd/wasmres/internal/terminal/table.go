package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/printable"
)

// A Table prints rows in columns. Flush prints the last of them.
type Table struct{ w *tabwriter.Writer }

// NewTable returns a Table on w with a first row, unless head is empty.
func NewTable(w io.Writer, head ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 8, ColumnGap, ' ', 0)}
	if len(head) > 0 {
		t.Row(head...)
	}
	return t
}

// Row prints one row. Each cell becomes one line without control characters. The cells are overwritten.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = Cell(c)
	}
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// Cell returns a text as one line without control characters.
func Cell(s string) string { return printable.Line(OneSpace(s)) }

// OneSpace replaces each run of white space by one space, and removes it from both ends.
func OneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// Flush prints rows that are still buffered: the widths of columns depend on all rows.
func (t *Table) Flush() error { return t.w.Flush() }

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
			column = max(column, utf8.RuneCountInString(Cell(r[i])))
		}
		width -= column + ColumnGap
	}
	for _, r := range rows {
		r[last] = Clip(Cell(r[last]), max(width, MinWidth))
	}
}
