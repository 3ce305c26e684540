package abi_test

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/abi"
)

func TestCheckURI(t *testing.T) {
	tests := []struct{ name, uri string }{
		{"file", "file:///home/someone/README.md"},
		{"authority", "db://users/42"},
		{"port and user", "https://me:secret@example.com:8443/a?b=c#d"},
		{"IPv6", "http://[::1]:80/"},
		{"opaque", "urn:isbn:0451450523"},
		{"scheme with everything", "a1+b-c.d:x"},
		{"upper-case scheme", "FILE:///A"},
		{"query only", "x:?q"},
		{"slash only", "x:/"},
		{"hidden file", "file:///a/.b"},
		{"three dots", "file:///a/.../b"},
		{"dots in a name", "file:///a/b..c/d.."},
		{"dots in a query", "x:/a?b=../.."},
		{"dots in a fragment", "x:/a#../.."},
		{"slash in a query", "x:/a?b=%2f%5C"},
		{"slash in a fragment", "x:/a#%2f%5C"},
		{"question mark in a fragment", "x:/a#b?%2f"},
		{"encoded space", "x:/a%20b"},
		{"encoded percent sign", "x:/%252e%252e/a"},
		{"encoded UTF-8", "x:/caf%C3%A9"},
		{"encoded Latin-1", "x:/caf%E9"},
		{"encoded joiner", "x:/%E2%80%8D"},
		{"non-ASCII", "x:/café/日本語/😀"},
		{"private character in a query", "x:/a?\ue000"},
		{"longest", "x:" + strings.Repeat("a", abi.MaxURI-2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := abi.CheckURI(tt.uri); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
	}
}

func TestCheckURIErrors(t *testing.T) {
	tests := []struct{ name, uri, want string }{
		{"empty", "", "uri is empty"},
		{"too long", "x:" + strings.Repeat("a", abi.MaxURI-1), "byte 2048: longer than 2048 bytes"},
		{"no scheme", "/etc/passwd", "byte 0: a scheme begins with a letter"},
		{"empty scheme", "://a", "byte 0: a scheme begins with a letter"},
		{"digit first", "1x:a", "byte 0: a scheme begins with a letter"},
		{"scheme alone", "file", "byte 4: no colon"},
		{"nothing after the scheme", "file:", "byte 5: nothing after the scheme"},
		{"underscore in the scheme", "a_b:c", "byte 1: want a scheme"},
		{"escape in the scheme", "f%69le:/a", "byte 1: want a scheme"},
		{"non-ASCII scheme", "é:a", "byte 0: a scheme"},
		{"invalid UTF-8", "x:/a\xff", "byte 4: invalid UTF-8"},
		{"encoded surrogate, raw", "x:/\xed\xa0\x80", "byte 3: invalid UTF-8"},
		{"space", "x:/a b", "byte 4: character U+0020"},
		{"no-break space", "x:/a\u00a0b", "byte 4: character U+00A0"},
		{"line separator", "x:/a\u2028b", "byte 4: character U+2028"},
		{"NUL", "x:/a\x00", "byte 4: character U+0000"},
		{"newline in a query", "x:/a?b\n", "byte 6: character U+000A"},
		{"DEL", "x:/\x7f", "byte 3: character U+007F"},
		{"C1 control", "x:/\u0085", "byte 3: character U+0085"},
		{"bidi override", "x:/\u202egpj.exe", "byte 3: character U+202E"},
		{"joiner", "x:/a\u200db", "byte 4: character U+200D"},
		{"byte order mark", "x:/\ufeff", "byte 3: character U+FEFF"},
		{"tag character", "x:/\U000e0041", "byte 3: character U+E0041"},
		{"noncharacter", "x:/\uffff", "byte 3: character U+FFFF"},
		{"replacement character", "x:/\ufffd", "byte 3: character U+FFFD"},
		{"private character", "x:/\ue000", "byte 3: character U+E000"},
		{"private character in a fragment", "x:/a?b#\ue000", "byte 7: character U+E000"},
		{"half an escape", "x:/a%2", "byte 4: percent sign"},
		{"escape that is none", "x:/a%2g", "byte 4: percent sign"},
		{"percent sign at the end", "x:/a?%", "byte 5: percent sign"},
		{"encoded NUL", "x:/a%00", "byte 4: encoded control character"},
		{"encoded newline in a query", "x:/a?b=%0A", "byte 7: encoded control character"},
		{"encoded DEL", "x:/%7f", "byte 3: encoded control character"},
		{"encoded C1 control", "x:/%c2%9F", "byte 3: encoded control character"},
		{"encoded slash", "x:/a%2fb", "byte 4: encoded slash"},
		{"encoded slash in the authority", "x://a%2Fb/c", "byte 5: encoded slash"},
		{"encoded backslash", "x:/a%5Cb", "byte 4: encoded backslash"},
		{"overlong slash", "x:/a%c0%af", "byte 4: overlong"},
		{"overlong dot", "x:/%e0%80%ae", "byte 3: overlong"},
		{"longer overlong dot", "x:/%F0%80%80%AE", "byte 3: overlong"},
		{"dot", "x:/./a", "byte 3: dot segment"},
		{"two dots", "x:/a/../b", "byte 5: dot segment"},
		{"two dots last", "x:/a/..", "byte 5: dot segment"},
		{"two dots before a query", "x:/a/..?b", "byte 5: dot segment"},
		{"two dots before a fragment", "x:/a/..#b?c", "byte 5: dot segment"},
		{"encoded dots", "x:/a/%2e%2E/b", "byte 5: dot segment"},
		{"half encoded dots", "x:/a/.%2e/b", "byte 5: dot segment"},
		{"encoded dot", "x:/%2E", "byte 3: dot segment"},
		{"dots in the authority", "project://../etc", "byte 10: dot segment"},
		{"dots after the scheme", "test:../x", "byte 5: dot segment"},
		{"dots alone", "test:..", "byte 5: dot segment"},
		{"dots in an opaque part", "test:a/..", "byte 7: dot segment"},
	}
	for _, b := range []byte("<>\"{}|\\^`") {
		tests = append(tests, struct{ name, uri, want string }{
			"character " + string(b), "x:/a" + string(b), "byte 4: character U+",
		})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := abi.CheckURI(tt.uri)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestParseURI(t *testing.T) {
	for _, tt := range []struct{ given, normal string }{
		{"x:/a", "x:/a"}, {"x:/caf%c3%a9", "x:/caf%C3%A9"}, {"x:/café", "x:/caf%C3%A9"},
		{"FILE://LOCALHOST/Café", "file:///Caf%C3%A9"},
	} {
		u, err := abi.ParseURI(tt.given)
		if err != nil || u.String() != tt.given || u.Normal() != tt.normal || u.IsZero() || u != abi.MustParseURI(tt.given) {
			t.Errorf("%s: got %q, %q, %v", tt.given, u.String(), u.Normal(), err)
		}
	}
	for _, invalid := range []string{"", "a", "x:/../a", "x:/%2f"} {
		u, err := abi.ParseURI(invalid)
		if abi.CodeOf(err) != abi.CodeInvalidParams || !u.IsZero() || err.Error() != abi.CheckURI(invalid).Error() {
			t.Errorf("%q: got %q, %v", invalid, u.String(), err)
		}
	}
}

func TestCheckURIErrorIsShort(t *testing.T) {
	for _, uri := range []string{strings.Repeat("\x00", 1<<20), "x:" + strings.Repeat("\u202e", 500)} {
		err := abi.CheckURI(uri)
		if err == nil || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\x00\u202e") {
			t.Errorf("got %q, want a short, printable error", err)
		}
	}
}

func FuzzCheckURI(f *testing.F) {
	f.Add("file:///a/b%20c?d=%2F#e")
	f.Add("test:%2e%2E/x")
	f.Add("project://../etc")
	f.Add("x:/caf\u00e9%C2%85\u202e")
	f.Fuzz(func(t *testing.T, uri string) {
		if err := abi.CheckURI(uri); err != nil {
			if len(err.Error()) > 400 || !utf8.ValidString(err.Error()) {
				t.Errorf("got %q, want a short, printable error", err)
			}
			return
		}
		if err := abi.CheckURI(strings.Clone(uri)); err != nil {
			t.Errorf("accepted, then %v", err)
		}
		decoded, err := url.PathUnescape(uri)
		if err != nil || strings.ContainsFunc(decoded, unicode.IsControl) || strings.ContainsFunc(uri, unicode.IsControl) {
			t.Errorf("accepted %q, which decodes to %q (%v)", uri, decoded, err)
		}
		_, rest, ok := strings.Cut(uri, ":")
		if !ok || rest == "" || len(uri) > abi.MaxURI || !utf8.ValidString(uri) {
			t.Errorf("accepted %q", uri)
		}
		before, _, _ := strings.Cut(rest, "#")
		before, _, _ = strings.Cut(before, "?")
		decoded, _ = url.PathUnescape(before)
		if strings.Count(decoded, "/") != strings.Count(before, "/") || strings.Contains(decoded, `\`) {
			t.Errorf("accepted %q with an encoded separator", uri)
		}
		if strings.Contains(path.Clean("/"+decoded), "/../") || slices.ContainsFunc(strings.Split(decoded, "/"), isDots) {
			t.Errorf("accepted %q with a traversal", uri)
		}
	})
}

func isDots(segment string) bool { return segment == "." || segment == ".." }

func TestNormalURIIsTheSameForEverySpelling(t *testing.T) {
	for _, tt := range []struct{ uri, want string }{
		{"test://plain/a-b_c?q=1#f", "test://plain/a-b_c?q=1#f"},
		{"test://ünï/日本", "test://%C3%BCn%C3%AF/%E6%97%A5%E6%9C%AC"},
		{"test://%c3%bcn%C3%Af/日%e6%9c%ac", "test://%C3%BCn%C3%AF/%E6%97%A5%E6%9C%AC"},
		{"test://a%20b", "test://a%20b"},
		{"test://a%2", "test://a%2"}, // CheckURI refuses it; nothing breaks
	} {
		if got := abi.NormalURI(tt.uri); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.uri, got, tt.want)
		}
		if again := abi.NormalURI(tt.want); again != tt.want {
			t.Errorf("%s is not stable: %s", tt.want, again)
		}
	}
}
