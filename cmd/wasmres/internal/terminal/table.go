package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/textwidth"
)

// A Table prints rows in columns when it is flushed: the widths of columns depend on all rows. On a terminal the last cell of a
// row goes on below itself where it is too long for the line.
type Table struct {
	w     io.Writer
	width int // of the terminal; 0 if w is none
	rows  [][]string
}

// NewTable returns a Table on w with a first row, unless head is empty.
func NewTable(w io.Writer, head ...string) *Table {
	t := &Table{w: w, width: Width(w)}
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
		t.print(out, row, widths)
	}
	t.rows = nil
	return out.Flush() // which returns the first error of out
}

// print prints a row. Its last cell is broken between words.
func (t *Table) print(out io.Writer, row []string, widths []int) {
	var line strings.Builder
	indent := 0
	for i := range max(len(row)-1, 0) {
		line.WriteString(textwidth.Pad(row[i], widths[i]+ColumnGap))
		indent += widths[i] + ColumnGap
	}
	last := ""
	if len(row) > 0 {
		last = row[len(row)-1]
	}
	if left := t.width - indent; t.width > 0 && left >= MinWidth && textwidth.Of(last) > left {
		Style{Width: t.width}.Paragraph(out, line.String(), indent, last)
		return
	}
	fmt.Fprintln(out, line.String()+last)
}

// PrintTable prints a list. The last cell of each row is a description, which is cut to the width of a terminal. If the other
// cells leave no room for it, each row is a paragraph, with a line for each cell.
func PrintTable(w io.Writer, head []string, rows [][]string) error {
	return printTable(w, Width(w), head, rows)
}

func printTable(w io.Writer, width int, head []string, rows [][]string) error {
	if width > 0 && narrowest(append([][]string{head}, rows...)) > width {
		return printParagraphs(w, width, head, rows)
	}
	cutLast(append([][]string{head}, rows...), width)
	t := NewTable(w, head...)
	for _, r := range rows {
		t.Row(r...)
	}
	return t.Flush()
}

// narrowest returns how many columns rows take whose last cells are cut to [MinWidth].
func narrowest(rows [][]string) (columns int) {
	last := len(rows[0]) - 1
	for i := range rows[0] {
		column := 0
		for _, r := range rows {
			column = max(column, textwidth.Of(Cell(r[i])))
		}
		if i == last {
			return columns + min(column, MinWidth)
		}
		columns += column + ColumnGap
	}
	return columns
}

// printParagraphs prints rows one below the other: each cell that is not empty on a line, after its name.
func printParagraphs(w io.Writer, width int, head []string, rows [][]string) error {
	indent := 0
	for _, name := range head {
		indent = max(indent, textwidth.Of(name)+ColumnGap)
	}
	out := bufio.NewWriter(w)
	for i, r := range rows {
		if i > 0 {
			fmt.Fprintln(out)
		}
		for j, cell := range r {
			if cell = Cell(cell); cell != "" {
				Style{Width: width}.Paragraph(out, head[j], indent, cell)
			}
		}
	}
	return out.Flush() // which returns the first error of out
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
