package viewer_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/wasmres/wasmres/internal/viewer"
)

// mayBe are the elements that Markdown may become.
var mayBe = strings.Fields("html head body p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del hr br table thead tbody tr th td a")

// FuzzMarkdown parses what Markdown becomes as a browser does: it has no other elements, and its links lead to the web or to pages
// of this server.
func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{
		markdown, "[a](java\tscript:alert(1))", "[a](&#x6A;avascript:alert(1))", "![a](x \"onerror=\")", "<a href='javascript:1'>", "[a]: <javascript:1>\n[a]",
		"<javascript:alert(1)>", "`\u202e`", "[x](//evil.example)", "[x](/\\evil.example)", "| a |\n|:-:|\n| <script> |", "<svg/onload=alert(1)>", "<!--><script>-->", "https://x/\"onclick=1",
	} {
		f.Add(text, "x://notes/a.md")
	}
	f.Fuzz(func(t *testing.T, text, uri string) {
		if len(text) > 4096 || len(uri) > 256 {
			return
		}
		doc, err := html.Parse(strings.NewReader(viewer.Markdown(text, uri)))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if !slices.Contains(mayBe, n.Data) {
				t.Errorf("it has the element %s", n.Data)
			}
			for _, a := range n.Attr {
				isLink := n.Data == "a" && a.Key == "href" && hasPrefix(a.Val, "http:", "https:", "mailto:", "/root/read?")
				if !isLink && !slices.Contains([]string{"rel", "start"}, a.Key) {
					t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
				}
			}
		}
	})
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.ToLower(s), p) })
}

func FuzzNameOf(f *testing.F) {
	for _, uri := range []string{"x://a/b.md", "x:///../..", "x://a/%2e%2e%2f\"\r\n", "x://a/" + strings.Repeat("a", 500), ":", "x:..", "\u202e"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		name := viewer.NameOf(uri)
		if name == "" || len(name) > 100 || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" {
			t.Errorf("got %q", name)
		}
	})
}
