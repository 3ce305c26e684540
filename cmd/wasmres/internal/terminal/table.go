package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/printable"
)

// A Table prints rows in columns.
type Table struct{ w *tabwriter.Writer }

func NewTable(w io.Writer, head ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 8, ColumnGap, ' ', 0)}
	if len(head) > 0 {
		t.Row(head...)
	}
	return t
}

// Row prints one row, each cell on one line that cannot steer the terminal.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = Cell(c)
	}
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

func Cell(s string) string { return printable.Line(OneSpace(s)) }

func OneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

func (t *Table) Flush() error { return t.w.Flush() }

// PrintTable prints rows of a list, whose last cell is a description: on a terminal, that is cut to fit.
func PrintTable(w io.Writer, head []string, rows [][]string) error {
	cutLast(append([][]string{head}, rows...), Width(w))
	t := NewTable(w, head...)
	for _, r := range rows {
		t.Row(r...)
	}
	return t.Flush()
}

const (
	ColumnGap = 2
	MinWidth  = 20 // of a description: narrower says nothing, and the terminal may wrap
)

// cutLast cuts the last cell of each row so that rows are no wider than width. A width of 0 is unknown: nothing is cut.
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
