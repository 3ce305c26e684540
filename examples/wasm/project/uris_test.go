package main

import (
	"strings"
	"testing"
)

// Each URI and template that the README names is listed or matched, and read.
func TestURIs(t *testing.T) {
	p := start(t)
	listed := map[string]bool{}
	for _, e := range p.List() {
		listed[e.URI] = true
	}
	for _, m := range p.Manifest().Templates {
		listed[m.URI] = true
	}
	for uri, want := range map[string]string{
		"project://readme": "# Project\n", "project://license": "MIT\n", "project://file/README.md": "# Project\n",
		"project://file/a/b/c.go": "package c\n", "project://stats/a.txt": `"bytes":4`, "project://stats/a/b.txt": `"bytes":5`,
	} {
		if text := p.Text(uri); !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q", uri, text, want)
		}
		if !listed[uri] && !strings.HasPrefix(uri, "project://stats/") {
			t.Errorf("%s is not listed", uri)
		}
	}
	for _, template := range []string{"project://file/{filename}", "project://stats/{filename}"} {
		if !listed[template] {
			t.Errorf("there is no template %s", template)
		}
	}
}
