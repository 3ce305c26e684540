package abi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

func TestCheckChild(t *testing.T) {
	for _, c := range []struct {
		dir, uri, name string
		code           abi.Code
	}{
		{"skill://pdf", "skill://pdf/SKILL.md", "pdf", abi.CodeOK},
		{"skill://pdf", "skill://pdf/a%20b", "a b", abi.CodeOK},
		{"file:///", "file:///a", "a", abi.CodeOK},
		{"skill://pdf", "skill://pdf", "pdf", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/", "pdf", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a/b", "b", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a/", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdfs/a", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://other/a", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/..", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/%2e%2E", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a%2Fb", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a%5Cb", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a%0Ab", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a?b", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a#b", "a", abi.CodeInvalidURI},
		{"skill://pdf", "skill://pdf/a", "..", abi.CodeProtocol},
		{"skill://pdf", "skill://pdf/a", "../a", abi.CodeProtocol},
		{"skill://pdf", "skill://pdf/a", `b\a`, abi.CodeProtocol},
		{"skill://pdf", "skill://pdf/a", "b\x00", abi.CodeProtocol},
		{"skill://pdf", "skill://pdf/a", "", abi.CodeProtocol},
	} {
		if err := abi.CheckChild(c.dir, &abi.Resource{URI: c.uri, Name: c.name}); abi.CodeOf(err) != c.code {
			t.Errorf("%s, named %q, in %s: got %v, want %v", c.uri, c.name, c.dir, err, c.code)
		}
	}
	twice := []abi.Resource{{URI: "skill://pdf/a", Name: "a"}, {URI: "skill://pdf/%61", Name: "b"}}
	if err := abi.CheckChildren("skill://pdf", twice); abi.CodeOf(err) != abi.CodeProtocol {
		t.Errorf("a URI twice: got %v, want a violation of the protocol", err)
	}
}

// Whatever is accepted as a child lies right in its directory, for those also that decode URIs.
func FuzzCheckChild(f *testing.F) {
	f.Add("skill://pdf", "skill://pdf/SKILL.md", "pdf")
	f.Add("file:///", "file:///%2e%2e%2fetc", "..")
	f.Fuzz(func(t *testing.T, dir, uri, name string) {
		r := &abi.Resource{URI: uri, Name: name}
		if abi.CheckURI(dir) != nil || abi.CheckURI(uri) != nil || abi.CheckChild(dir, r) != nil {
			return
		}
		i := strings.LastIndexByte(abi.NormalURI(uri), '/')
		segment, err := url.PathUnescape(abi.NormalURI(uri)[i+1:])
		if err != nil || segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "/\\\x00") || strings.ContainsAny(name, "/\\") {
			t.Fatalf("%q, named %q, is a child of %q", uri, name, dir)
		}
		if within := strings.TrimSuffix(abi.NormalURI(dir), "/"); abi.NormalURI(uri)[:i] != within && abi.NormalURI(uri)[:i+1] != abi.NormalURI(dir) {
			t.Fatalf("%q is a child of %q", uri, dir)
		}
	})
}
