package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/wasmres/wasmres/internal/textwidth"
)

// A style is a set of ways to show a text.
type style uint8

const (
	bold style = 1 << iota
	dim
	italic
	underlined
	struck
)

// sequences has, for each bit of a style, its number in an escape sequence.
var sequences = [...]string{"1", "2", "3", "4", "9"}

// paint returns a text in a style.
func (p Page) paint(s style, text string) string {
	if !p.Styled || s == 0 || text == "" {
		return text
	}
	var numbers []string
	for i, number := range sequences {
		if s&(1<<i) != 0 {
			numbers = append(numbers, number)
		}
	}
	return "\x1b[" + strings.Join(numbers, ";") + "m" + text + "\x1b[0m"
}

// A span is text in one style. A line feed in it ends the line.
type span struct {
	text  string
	style style
}

// maxInline bounds how deep emphasis and links are looked into.
const maxInline = 24

// inlines returns the text of a block.
func (w *writer) inlines(parent ast.Node, s style, depth int) (spans []span) {
	if depth > maxInline {
		return nil
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		spans = append(spans, w.inline(n, s, depth)...)
	}
	return spans
}

func (w *writer) inline(n ast.Node, s style, depth int) []span {
	switch n := n.(type) {
	case *ast.Text:
		line := string(n.Segment.Value(w.source))
		if !n.IsRaw() {
			line = unescaped(line)
		}
		spans := []span{{printed(line), s}}
		switch {
		case n.HardLineBreak():
			spans = append(spans, span{"\n", 0})
		case n.SoftLineBreak():
			spans = append(spans, span{" ", 0})
		}
		return spans
	case *ast.String:
		return []span{{printed(string(n.Value)), s}}
	case *ast.CodeSpan:
		return w.quoted(w.inlines(n, s, depth+1), s)
	case *ast.Emphasis:
		if n.Level > 1 {
			return w.inlines(n, s|bold, depth+1)
		}
		return w.inlines(n, s|italic, depth+1)
	case *extension.Strikethrough:
		return w.inlines(n, s|struck, depth+1)
	case *ast.Link:
		return w.link(w.inlines(n, s|underlined, depth+1), n.Destination, s)
	case *ast.Image:
		label := append([]span{{"[image: ", s | dim}}, w.inlines(n, s, depth+1)...)
		return w.link(append(label, span{"]", s | dim}), n.Destination, s)
	case *ast.AutoLink:
		return []span{{printed(string(n.URL(w.source))), s | underlined}}
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.Write(segment.Value(w.source))
		}
		return []span{{printed(b.String()), s | dim}}
	}
	return w.inlines(n, s, depth+1)
}

// quoted returns code between backquotes where styles do not tell it from text.
func (w *writer) quoted(code []span, s style) []span {
	if !w.page.Styled {
		return append(append([]span{{"`", s}}, code...), span{"`", s})
	}
	for i := range code {
		code[i].style |= bold
	}
	return code
}

// link returns a label, and beside it where the link leads: a label may say something else.
func (w *writer) link(label []span, destination []byte, s style) []span {
	to := printed(string(util.URLEscape(destination, true)))
	if to == "" || textOf(label) == to {
		return label
	}
	return append(label, span{" (" + to + ")", s | dim})
}

func textOf(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// unescaped resolves backslashes and entities. The result may have control characters.
func unescaped(s string) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(s)))))
}

// paragraph writes spans, broken into lines between words.
func (w *writer) paragraph(spans []span, m margin) {
	left := m.first
	for _, line := range w.wrapped(spans, w.room(m)) {
		w.line(left, line)
		left = m.rest
	}
}

// wrapped returns spans as lines of at most width columns. A longer word is divided.
func (w *writer) wrapped(spans []span, width int) (lines []string) {
	l := &lineBreaker{page: w.page, width: width}
	for _, s := range spans {
		for i, part := range strings.Split(s.text, "\n") {
			if i > 0 {
				l.endWord()
				l.endLine()
			}
			for j, word := range strings.Split(part, " ") {
				if j > 0 {
					l.endWord()
				}
				if word != "" {
					l.word = append(l.word, span{word, s.style})
					l.columns += columns(word)
				}
			}
		}
	}
	l.endWord()
	if l.used > 0 || len(l.lines) == 0 {
		l.endLine()
	}
	return l.lines
}

// A lineBreaker fills lines with words. A word may have several styles.
type lineBreaker struct {
	page    Page
	width   int
	lines   []string
	line    strings.Builder
	used    int    // columns of line
	word    []span // not yet in line
	columns int    // of word
}

func (l *lineBreaker) endLine() {
	l.lines = append(l.lines, l.line.String())
	l.line.Reset()
	l.used = 0
}

func (l *lineBreaker) endWord() {
	if len(l.word) == 0 {
		return
	}
	if l.used > 0 && l.used+1+l.columns > l.width {
		l.endLine()
	}
	if l.used > 0 {
		l.line.WriteByte(' ')
		l.used++
	}
	for _, s := range l.word {
		l.fill(s)
	}
	l.word, l.columns = l.word[:0], 0
}

// fill adds a part of a word to the line, and begins further lines for what does not fit.
func (l *lineBreaker) fill(s span) {
	for rest := s.text; rest != ""; {
		if l.used >= l.width {
			l.endLine()
		}
		var part string
		if part, rest = cut(rest, l.width-l.used); l.used > 0 && l.used+columns(part) > l.width {
			rest = part + rest
			l.endLine()
			continue
		}
		l.line.WriteString(l.page.paint(s.style, part))
		l.used += columns(part)
	}
}

func columns(s string) int                        { return textwidth.Of(s) }
func cut(s string, width int) (head, rest string) { return textwidth.Cut(s, width) }
