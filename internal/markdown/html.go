package markdown

import (
	"bytes"
	"html/template"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// renderer renders Markdown as GitHub has it, without the HTML that is in it.
var renderer = goldmark.New(goldmark.WithExtensions(
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough, extension.Linkify,
)) // safe for concurrent use

// HTML renders Markdown. target says where each link leads, as a URL. Pictures become links: a page loads nothing from
// elsewhere.
func HTML(source []byte, target func(destination string) string) template.HTML {
	doc := renderer.Parser().Parse(text.NewReader(source))
	var pictures []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if !isEntering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(target(string(n.Destination)))
		case *ast.Image:
			pictures = append(pictures, n)
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures {
		link := ast.NewLink()
		link.Destination = []byte(target(string(picture.Destination)))
		for c := picture.FirstChild(); c != nil; c = picture.FirstChild() {
			link.AppendChild(link, c)
		}
		picture.Parent().ReplaceChild(picture.Parent(), picture, link)
	}
	var b bytes.Buffer
	if err := renderer.Renderer().Render(&b, source, doc); err != nil {
		return template.HTML(template.HTMLEscapeString(string(source)))
	}
	return template.HTML(sanitize(b.Bytes())) //nolint:gosec // it was sanitised
}
