package viewer

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// renderer renders Markdown as GitHub has it, without the HTML that is in it.
var renderer = goldmark.New(goldmark.WithExtensions(
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough, extension.Linkify,
)) // safe for concurrent use

// sanitizer permits the elements that renderer makes, and links.
var sanitizer = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "hr", "br", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true) // those of markdown, to this server
	p.RequireNoFollowOnLinks(false)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	return p
}() // safe for concurrent use once it is made

// web are the schemes of links that lead out of the provider.
var web = []string{"http", "https", "mailto"}

// dangerous are the schemes that a browser runs or reads from the disk.
var dangerous = []string{"javascript", "data", "vbscript", "file", "blob", "about"}

// markdown renders the Markdown of a resource. Links to other resources lead to their pages, and pictures are links: a page
// loads nothing from elsewhere.
func (s *Server) markdown(source []byte, uri string) template.HTML {
	doc := renderer.Parser().Parse(text.NewReader(source))
	var pictures []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if !isEntering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(s.target(string(n.Destination), uri))
		case *ast.Image:
			pictures = append(pictures, n)
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures {
		link := ast.NewLink()
		link.Destination = []byte(s.target(string(picture.Destination), uri))
		for c := picture.FirstChild(); c != nil; c = picture.FirstChild() {
			link.AppendChild(link, c)
		}
		picture.Parent().ReplaceChild(picture.Parent(), picture, link)
	}
	var b bytes.Buffer
	if err := renderer.Renderer().Render(&b, source, doc); err != nil {
		return template.HTML(template.HTMLEscapeString(string(source)))
	}
	return template.HTML(sanitizer.SanitizeBytes(b.Bytes())) //nolint:gosec // it was sanitised
}

// target returns where a link in a resource leads: to the web, or to the page of another resource; empty for nowhere.
func (s *Server) target(to, from string) string {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil || slices.Contains(dangerous, strings.ToLower(u.Scheme)) {
		return ""
	}
	if slices.Contains(web, strings.ToLower(u.Scheme)) {
		return u.String()
	}
	if u.Scheme == "" {
		base, err := url.Parse(from)
		if err != nil || base.Opaque != "" || strings.HasPrefix(to, "#") {
			return ""
		}
		u = base.ResolveReference(u)
	}
	return s.link("read", u.String())
}
