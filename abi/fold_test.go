package abi_test

import (
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

func TestFoldURI(t *testing.T) {
	for _, tt := range []struct{ uri, want string }{
		{"FILE:///x", "file:///x"},
		{"file://localhost/x", "file:///x"},
		{"File://LocalHost/X/y%2F", "file:///X/y%2F"},
		{"file://localhost", "file://localhost"}, // has no path
		{"file://localhost.example/x", "file://localhost.example/x"},
		{"file://Server/Share", "file://server/Share"},
		{"file:///LOCALHOST/x", "file:///LOCALHOST/x"},
		{"HTTPS://Me:Secret@Example.COM:8443/A?B=C#D", "https://Me:Secret@example.com:8443/A?B=C#D"},
		{"https://EXAMPLE.com?Q", "https://example.com?Q"},
		{"https://[FE80::1]/A", "https://[fe80::1]/A"},
		{"https://a%C3%BCB/x", "https://a%C3%BCb/x"},
		{"https:Opaque", "https:Opaque"},
		{"users://Ada", "users://Ada"}, // a name, not a host
		{"USERS://Ada", "users://Ada"},
		{"GitHub+v1.0-x://Repo/Main", "github+v1.0-x://Repo/Main"},
		{"urn:ISBN:0451450523", "urn:ISBN:0451450523"},
		{"HTTPS://{Host}.Example.COM/{Path}", "https://{Host}.example.com/{Path}"},
		{"https://Example.COM{/Path*}", "https://example.com{/Path*}"},
		{"https://Example.COM{+Rest}/A", "https://example.com{+Rest}/A"},
		{"file://localhost/{+path}", "file:///{+path}"},
		{"{Scheme}://Host/x", "{Scheme}://Host/x"},
		{"https://{Unclosed", "https://{Unclosed"},
		{"https://%4", "https://%4"},
		{"https://", "https://"},
		{"no colon", "no colon"},
		{"", ""},
	} {
		if got := abi.FoldURI(tt.uri); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.uri, got, tt.want)
		}
	}
}

// FuzzFoldURI holds that folding is stable, keeps valid what is valid, and changes nothing but case and localhost.
func FuzzFoldURI(f *testing.F) {
	for _, uri := range []string{"FILE://LOCALHOST/x", "HTTPS://A:B@C%c3%a9{D}/E{/F}", "x:A", "http://{+A}B"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		got := abi.FoldURI(uri)
		if again := abi.FoldURI(got); again != got {
			t.Errorf("%q becomes %q, then %q", uri, got, again)
		}
		if normal := abi.NormalURI(uri); abi.CheckURI(uri) == nil && (abi.NormalURI(normal) != normal || abi.NormalURI(got) != normal) {
			t.Errorf("%q: %q and %q differ in normal form", uri, got, normal)
		}
		same := strings.EqualFold(uri, got)
		local := strings.EqualFold(strings.Replace(got, "file:///", "file://localhost/", 1), uri)
		if !same && !local {
			t.Errorf("%q becomes %q", uri, got)
		}
		if abi.CheckURI(uri) == nil && abi.CheckURI(got) != nil {
			t.Errorf("%q is valid, and %q is not", uri, got)
		}
	})
}
