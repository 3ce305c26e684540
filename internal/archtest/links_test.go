package archtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// TestLinksLeadSomewhere follows the relative links and images of all pages, and of llms.txt, to files of this repository,
// and their fragments to headings, as GitHub names these. Links to other servers are not followed.
func TestLinksLeadSomewhere(t *testing.T) {
	anchors := map[string]map[string]bool{}
	for _, file := range append(pages(t), filepath.Join(root, "llms.txt")) {
		for _, link := range linksOf(readPage(t, file)) {
			u, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: link %s: %v", relative(t, file), link, err)
				continue
			}
			if u.Scheme != "" || u.Host != "" {
				continue
			}
			target := file
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(u.Path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link %s: there is no such file", relative(t, file), link)
				continue
			}
			if u.Fragment == "" || !strings.HasSuffix(target, ".md") {
				continue
			}
			if anchors[target] == nil {
				anchors[target] = anchorsOf(readPage(t, target))
			}
			if !anchors[target][u.Fragment] {
				t.Errorf("%s: link %s: %s has no such heading", relative(t, file), link, relative(t, target))
			}
		}
	}
}

// TestEveryPageIsInTheIndex holds docs/README.md to the pages of its folder.
func TestEveryPageIsInTheIndex(t *testing.T) {
	docs := filepath.Join(root, "docs")
	index := filepath.Join(docs, "README.md")
	listed := map[string]bool{index: true}
	for _, link := range linksOf(readPage(t, index)) {
		path, _, _ := strings.Cut(link, "#")
		listed[filepath.Join(docs, filepath.FromSlash(path))] = true
	}
	for _, file := range pages(t) {
		if strings.HasPrefix(file, docs+string(filepath.Separator)) && !listed[file] {
			t.Errorf("docs/README.md does not link to %s", relative(t, file))
		}
	}
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	page := []byte("# A `code` title: 1, 2\n\n## Why?\n\n## Why?\n\n[x](a.md#b) ![y](c.svg) `[z](no)`\n\n```\n# not one\n[z](no)\n```\n")
	got := anchorsOf(page)
	for _, want := range []string{"a-code-title-1-2", "why", "why-1"} {
		if !got[want] {
			t.Errorf("%q is missing in %v", want, got)
		}
	}
	if len(got) != 3 {
		t.Errorf("got %v", got)
	}
	if links := strings.Join(linksOf(page), " "); links != "a.md#b c.svg" {
		t.Errorf("got %q", links)
	}
}

func readPage(t *testing.T, file string) []byte {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// walkPage calls visit for each node of a page, before those in it.
func walkPage(page []byte, visit func(ast.Node)) {
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(page))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function below never fails
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// linksOf returns the destinations of the links and images of a page.
func linksOf(page []byte) (links []string) {
	walkPage(page, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, string(n.Destination))
		case *ast.Image:
			links = append(links, string(n.Destination))
		}
	})
	return links
}

// htmlID matches an anchor that a page sets itself.
var htmlID = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)

// anchorsOf returns the fragments that lead to the headings of a page.
func anchorsOf(page []byte) map[string]bool {
	anchors := map[string]bool{}
	for _, id := range htmlID.FindAllSubmatch(page, -1) {
		anchors[string(id[1])] = true
	}
	walkPage(page, func(n ast.Node) {
		if n.Kind() != ast.KindHeading {
			return
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, headingText(n, page))
		free := slug
		for i := 1; anchors[free]; i++ {
			free = slug + "-" + strconv.Itoa(i)
		}
		anchors[free] = true
	})
	return anchors
}

func headingText(n ast.Node, page []byte) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if leaf, ok := child.(*ast.Text); ok {
			b.Write(leaf.Segment.Value(page))
			continue
		}
		b.WriteString(headingText(child, page))
	}
	return b.String()
}

// TestDrawingsAreThoseOfTheirSources fails when a drawing of docs/drawings was not made again after its source changed.
func TestDrawingsAreThoseOfTheirSources(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join(root, "docs", "drawings", "*.d2"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("there are no drawings: %v", err)
	}
	style := filepath.Join(root, "docs", "drawings", "style.d2")
	for _, source := range sources {
		if source == style {
			continue
		}
		drawing := strings.TrimSuffix(source, ".d2") + ".svg"
		digest := sha256.Sum256(append(readPage(t, style), readPage(t, source)...))
		if !bytes.HasSuffix(readPage(t, drawing), fmt.Appendf(nil, "<!-- sources: %x -->\n", digest)) {
			t.Errorf("%s is not drawn from its source: run docs/drawings/make.sh", relative(t, drawing))
		}
	}
}
