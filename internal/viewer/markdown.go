package viewer

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/wasmres/wasmres/internal/markdown"
)

// web are the schemes of links that lead out of the provider.
var web = []string{"http", "https", "mailto"}

// dangerous are the schemes that a browser runs or reads from the disk.
var dangerous = []string{"javascript", "data", "vbscript", "file", "blob", "about"}

// markdown renders the Markdown of a resource. Links to other resources lead to their pages.
func (s *Server) markdown(source []byte, uri string) template.HTML {
	return markdown.HTML(source, func(to string) string { return s.target(to, uri) })
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
