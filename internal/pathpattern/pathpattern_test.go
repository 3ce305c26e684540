package pathpattern

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern       string
		matches, does string // texts that match, and that do not, by spaces
	}{
		{"/v1/users", "/v1/users /v1/users/7", "/v1/usersx /v1 /v2/users"},
		{"/v1/users/", "/v1/users /v1/users/7", "/v1/usersx"},
		{"/v1/*/profile", "/v1/7/profile", "/v1/7/8/profile /v1/7/profile/x"},
		{"notes://**", "notes://a notes://a/b notes://", "note://a xnotes://a"},
		{"notes://drafts/**", "notes://drafts/a notes://drafts/a/b", "notes://drafts notes://draft/a notes://draftsx/a"},
		{"notes://*.md", "notes://a.md", "notes://a/b.md notes://axmd"},
		{"notes://drafts", "notes://drafts notes://drafts/a", "notes://drafts2"},
		{"**", "a b://c/d", ""},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Fields(c.matches) {
			if !p.Match(text) {
				t.Errorf("%s does not match %s", c.pattern, text)
			}
			for n := range len(text) {
				if !p.MayMatch(text[:n]) {
					t.Errorf("%s cannot match what begins with %s, but matches %s", c.pattern, text[:n], text)
				}
			}
		}
		for _, text := range strings.Fields(c.does) {
			if p.Match(text) {
				t.Errorf("%s matches %s", c.pattern, text)
			}
		}
	}
}

func TestMayMatch(t *testing.T) {
	p, err := Compile("notes://drafts/*/x")
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[string]bool{"": true, "notes://": true, "notes://drafts/7": true, "notes://other": false, "file:": false} {
		if got := p.MayMatch(head); got != want {
			t.Errorf("%q: got %v", head, got)
		}
	}
}
