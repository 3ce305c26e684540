package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/wasmres/wasmres/internal/printable"
)

const (
	minWidth = 20 // columns: a narrower terminal breaks the lines itself
	maxDepth = 12 // blocks in blocks; those below are printed as they were written
)

// A Page is how Markdown is laid out as text.
type Page struct {
	Width  int  // columns
	Styled bool // uses bold, underlined and dim text
	ASCII  bool // adds no other characters
}

// Render returns Markdown as lines that fit the page. It has no control characters but line feeds and the escape sequences
// of styles: what the source has of them is escaped. Links show where they lead.
func (p Page) Render(source []byte) string {
	p.Width = max(p.Width, minWidth)
	w := &writer{page: p, source: source}
	w.blocks(renderer.Parser().Parse(text.NewReader(source)), margin{}, 0)
	return w.out.String()
}

// A margin is what stands on the left of a block: of its first line, and of all others.
type margin struct{ first, rest string }

// beside returns a margin with more on its right.
func (m margin) beside(first, rest string) margin { return margin{m.first + first, m.rest + rest} }

// A writer writes blocks.
type writer struct {
	page   Page
	source []byte
	out    strings.Builder
}

func (w *writer) line(left, line string) {
	w.out.WriteString(strings.TrimRight(left+line, " "))
	w.out.WriteByte('\n')
}

// blocks writes the children of a node, with an empty line between two of them unless they are close.
func (w *writer) blocks(parent ast.Node, m margin, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !isTight(n) {
			w.line(m.rest, "")
		}
		w.block(n, m, depth)
		m.first = m.rest
	}
}

// isTight reports whether no empty line stands above a block.
func isTight(n ast.Node) bool {
	if list, ok := n.Parent().(*ast.List); ok {
		return list.IsTight
	}
	if list, ok := n.(*ast.List); ok && list.IsTight {
		_, isText := n.PreviousSibling().(*ast.TextBlock)
		return isText
	}
	return false
}

func (w *writer) block(n ast.Node, m margin, depth int) {
	if depth >= maxDepth {
		w.code(n, m)
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		mark := strings.Repeat("#", n.Level) + " "
		w.paragraph(append([]span{{mark, bold}}, w.inlines(n, bold, 0)...), m)
	case *ast.Paragraph, *ast.TextBlock:
		w.paragraph(w.inlines(n, 0, 0), m)
	case *ast.Blockquote:
		bar := w.page.either("│ ", "> ")
		w.blocks(n, m.beside(bar, bar), depth+1)
	case *ast.List:
		w.list(n, m, depth)
	case *ast.ThematicBreak:
		w.line(m.first, strings.Repeat(w.page.either("─", "-"), w.room(m)))
	case *extension.Table:
		w.table(n, m)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.code(n, m.beside("    ", "    "))
	default: // HTML too, as it was written
		w.code(n, m)
	}
}

// room is how many columns a margin leaves. Many margins leave some, and the terminal then breaks the lines.
func (w *writer) room(m margin) int { return max(w.page.Width-columns(m.rest), minWidth/2) }

func (w *writer) list(n *ast.List, m margin, depth int) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil && !n.IsTight {
			w.line(m.rest, "")
		}
		bullet := w.page.either("• ", "- ")
		if n.IsOrdered() {
			bullet = strconv.Itoa(number) + ". "
			number++
		}
		if item.FirstChild() == nil {
			w.line(m.first, bullet)
		}
		w.blocks(item, m.beside(bullet, strings.Repeat(" ", columns(bullet))), depth+1)
		m.first = m.rest
	}
}

// code writes the lines of a block as they are, those that are too long on several lines.
func (w *writer) code(n ast.Node, m margin) {
	lines := n.Lines()
	if lines == nil || lines.Len() == 0 {
		w.nested(n, m)
		return
	}
	left := m.first
	for i := range lines.Len() {
		segment := lines.At(i)
		rest := printed(strings.TrimRight(string(segment.Value(w.source)), "\r\n"))
		for {
			var part string
			part, rest = cut(rest, w.room(m))
			w.line(left, w.page.paint(dim, part))
			if left = m.rest; rest == "" {
				break
			}
		}
	}
	if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() {
		w.line(left, w.page.paint(dim, printed(strings.TrimRight(string(html.ClosureLine.Value(w.source)), "\r\n"))))
	}
}

// nested writes the lines of all blocks in a block that is too deep.
func (w *writer) nested(n ast.Node, m margin) {
	_ = ast.Walk(n, func(below ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if below.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if isEntering && below != n && below.Lines() != nil && below.Lines().Len() > 0 {
			w.code(below, m)
		}
		return ast.WalkContinue, nil
	})
}

// printed returns a line of the source with all escaped that is hidden, and tabs as spaces.
func printed(line string) string {
	return strings.ReplaceAll(printable.Text(strings.ReplaceAll(line, "\n", " ")), "\t", "    ")
}

func (p Page) either(text, ascii string) string {
	if p.ASCII {
		return ascii
	}
	return text
}
