package markdown

import (
	"strings"

	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/wasmres/wasmres/internal/textwidth"
)

const (
	columnGap = 2 // columns between two of a table
	minColumn = 6 // columns of a cell; a table that has less room is a list of its cells
)

// table writes a table. Cells that are too wide have several lines.
func (w *writer) table(n *extension.Table, m margin) {
	var rows [][][]span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		s := style(0)
		if _, isHead := row.(*extension.TableHeader); isHead {
			s = bold
		}
		var cells [][]span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, w.inlines(cell, s, 0))
		}
		rows = append(rows, cells)
	}
	widths, fits := fitted(rows, w.room(m))
	if !fits {
		w.cells(rows, m)
		return
	}
	for i, row := range rows {
		w.row(row, widths, m)
		if m.first = m.rest; i == 0 {
			w.rule(widths, m)
		}
	}
}

// fitted returns the widths of columns so that rows are at most room wide.
func fitted(rows [][][]span, room int) (widths []int, fits bool) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], columns(textOf(cell)))
		}
	}
	room -= columnGap * (len(widths) - 1)
	if room < minColumn*len(widths) {
		return nil, false
	}
	for total(widths) > room {
		widest, second := 0, 0 // the widest become as wide as the next, or narrower
		for _, width := range widths {
			if width > widest {
				widest, second = width, widest
			} else if width < widest {
				second = max(second, width)
			}
		}
		narrower := max(second, widest-max((total(widths)-room)/len(widths), 1))
		for i, width := range widths {
			if width == widest && total(widths) > room {
				widths[i] = narrower
			}
		}
	}
	return widths, true
}

func total(widths []int) (n int) {
	for _, width := range widths {
		n += width
	}
	return n
}

func (w *writer) row(cells [][]span, widths []int, m margin) {
	var columnsOf [][]string
	height := 0
	for i, cell := range cells {
		lines := w.wrapped(cell, widths[i])
		columnsOf = append(columnsOf, lines)
		height = max(height, len(lines))
	}
	left := m.first
	for at := range height {
		var b strings.Builder
		for i, lines := range columnsOf {
			text, width := "", 0
			if at < len(lines) {
				text = lines[at]
				width = columns(textwidth.WithoutStyles(text))
			}
			b.WriteString(text + strings.Repeat(" ", max(widths[i]-width, 0)+columnGap))
		}
		w.line(left, b.String())
		left = m.rest
	}
}

func (w *writer) rule(widths []int, m margin) {
	var parts []string
	for _, width := range widths {
		parts = append(parts, strings.Repeat(w.page.either("─", "-"), width))
	}
	w.line(m.rest, strings.Join(parts, strings.Repeat(" ", columnGap)))
}

// cells writes a table that is too wide as a paragraph for each cell, below the name of its column.
func (w *writer) cells(rows [][][]span, m margin) {
	for i, row := range rows[1:] {
		if i > 0 {
			w.line(m.rest, "")
		}
		for j, cell := range row {
			var named []span
			if j < len(rows[0]) {
				named = append(append(named, rows[0][j]...), span{": ", bold})
			}
			w.paragraph(append(named, cell...), m)
			m.first = m.rest
		}
	}
}
