package markdown_test

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wasmres/wasmres/internal/markdown"
)

func TestHTML(t *testing.T) {
	same := func(destination string) string { return destination }
	for name, tt := range map[string]struct{ source, want string }{
		"text":           {"# a & \"b\" <c>\n\n*d* **e** ~~f~~ `g`", "<h1>a &amp; &quot;b&quot; </h1>\n<p><em>d</em> <strong>e</strong> <del>f</del> <code>g</code></p>\n"},
		"lists":          {"- a\n\n7. b\n", "<ul>\n<li>a</li>\n</ul>\n<ol start=\"7\">\n<li>b</li>\n</ol>\n"},
		"code":           {"```go\na < b\n```", "<pre><code>a &lt; b\n</code></pre>\n"},
		"table":          {"|a|\n|:-|\n|b|", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>\n"},
		"page":           {"[a](https://b.example/?c=d&e \"f\")", "<p><a href=\"https://b.example/?c=d&amp;e\" rel=\"noreferrer\">a</a></p>\n"},
		"place":          {"[a](/b) ![c](d.png)", "<p><a href=\"/b\">a</a> <a href=\"d.png\">c</a></p>\n"},
		"no scheme":      {"[a](//b.example/)", "<p><a href=\"//b.example/\" rel=\"noreferrer\">a</a></p>\n"},
		"mail":           {"<a@b.example>", "<p><a href=\"mailto:a@b.example\">a@b.example</a></p>\n"},
		"script":         {"[a](javascript:b) [c](JavaScript:d) [e](&#x6a;avascript:f) [g](data:h,i)", "<p>a c e g</p>\n"},
		"html":           {"a <script>b</script>\n\n<iframe src=c>\n\nd", "<p>a b</p>\n\n<p>d</p>\n"},
		"rule and break": {"a  \nb\n\n---", "<p>a<br>\nb</p>\n<hr>\n"},
	} {
		if got := string(markdown.HTML([]byte(tt.source), same)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// foreign is HTML that the renderer does not write.
var foreign = map[string]string{
	"<script>a</script>":                        "a",
	"<style>a</style><p onclick=\"b\">c</p>":    "a<p>c</p>",
	"<p onclick=b>c</p>":                        "&lt;p onclick=b>c</p>",
	"<P>a</P>":                                  "&lt;P>a&lt;/P>",
	"<p/>a<p\n>":                                "&lt;p/>a&lt;p\n>",
	"<p><!-- <b> -->a<!-- raw HTML omitted -->": "<p>&lt;!--  -->a",
	"<a href=\"b\">c":                           "<a href=\"b\">c",
	"<a>b</a></a>":                              "b",
	"<a href=\"javascript:b\"><a href=\"c\">d</a></a>e</a>": "<a href=\"c\">d</a>e",
	"<a href=\"java&#10;script:b\">c</a>":                   "c",
	"<a href=\"b\" href=\"javascript:c\">d</a>":             "d",
	"<a href=\"b\" style=\"c\" target=\"d\">e</a>":          "<a href=\"b\">e</a>",
	"<a href=\"b>c</a>":                                     "&lt;a href=\"b>c",
	"<a href=\"&quot;onclick=&quot;b\">c</a>":               "<a href=\"%22onclick=%22b\">c</a>",
	"<ol start=\"1\"><ol start=\"x\">":                      "<ol start=\"1\"><ol>",
	"<svg><a href=\"b\">":                                   "<a href=\"b\">",
	"a < b <3 <":                                            "a &lt; b &lt;3 &lt;",
}

func TestForeignHTML(t *testing.T) {
	for text, want := range foreign {
		if got := string(markdown.Sanitize([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// FuzzSanitize parses what is left of any HTML as a browser does: it has no elements and attributes but those of Markdown, and no link
// that runs something.
func FuzzSanitize(f *testing.F) {
	for text := range foreign {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once := markdown.Sanitize(text)
		if again := markdown.Sanitize(once); !bytes.Equal(again, once) {
			t.Fatalf("%q becomes %q, and that %q", text, once, again)
		}
		nodes, err := html.ParseFragment(bytes.NewReader(once), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			checkNode(t, n)
		}
	})
}

var elements = strings.Fields("p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del hr br table thead tbody tr th td a")

func checkNode(t *testing.T, n *html.Node) {
	if n.Type == html.ElementNode && !slices.Contains(elements, n.Data) || n.Type == html.CommentNode {
		t.Fatalf("there is %q", n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case n.Data == "ol" && a.Key == "start" && strings.Trim(a.Val, "0123456789") == "", n.Data == "a" && a.Key == "rel" && a.Val == "noreferrer":
		case n.Data == "a" && a.Key == "href":
			u, err := url.Parse(a.Val)
			if err != nil || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme) || strings.ContainsAny(a.Val, "\t\r\n ") {
				t.Fatalf("a link leads to %q", a.Val)
			}
		default:
			t.Fatalf("%s has %s=%q", n.Data, a.Key, a.Val)
		}
	}
	for c := range n.ChildNodes() {
		checkNode(t, c)
	}
}
