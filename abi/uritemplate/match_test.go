package uritemplate_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi/uritemplate"
)

// values makes Values of name, value, name, value…
func values(pairs ...string) []uritemplate.Value {
	vs := []uritemplate.Value{}
	for i := 0; i < len(pairs); i += 2 {
		vs = append(vs, uritemplate.Value{Name: pairs[i], Value: pairs[i+1]})
	}
	return vs
}

func TestMatch(t *testing.T) {
	tests := []struct {
		name, template, uri string
		want                []uritemplate.Value
	}{
		{"no expression", "config://app", "config://app", values()},
		{"simple", "db://users/{user_id}", "db://users/42", values("user_id", "42")},
		{"simple in the middle", "logs://app/{date}/errors", "logs://app/2026-11-20/errors", values("date", "2026-11-20")},
		{"simple decodes", "x://{a}", "x://a%20b%2Fc%e2%82%ac", values("a", "a b/c€")},
		{"simple takes non-ASCII", "x://{a}", "x://naïve", values("a", "naïve")},
		{"simple with a dot", "x://{a}", "x://README.md", values("a", "README.md")},
		{"escaped and raw agree", "x://café/{a}", "x://caf%C3%A9/%61", values("a", "a")},
		{"escaped literal", "x://a%2fb/{a}", "x://a%2Fb/c", values("a", "c")},
		{"escaped unreserved in a literal", "x://abc/{a}", "x://%61b%63/c", values("a", "c")},
		{"two variables", "x://{a,b}", "x://1024,768", values("a", "1024", "b", "768")},
		{"later variable absent", "x://{a,b}", "x://1024", values("a", "1024")},
		{"later variable empty", "x://{a,b}", "x://1024,", values("a", "1024", "b", "")},
		{"exploded simple", "x://{a*}", "x://red,green,blue", values("a", "red", "a", "green", "a", "blue")},
		{"exploded before another", "x://{a*,b}", "x://1,2,3", values("a", "1", "a", "2", "b", "3")},
		{"adjacent", "x://{a}{b}", "x://abc", values("a", "ab", "b", "c")},

		{"prefix shorter", "x://{a:3}", "x://ab", values("a", "ab")},
		{"prefix exact", "x://{a:3}", "x://abc", values("a", "abc")},
		{"prefix counts characters", "x://{a:3}", "x://a%C3%A9é", values("a", "aéé")},
		{"prefix and the rest", "x://{a:3}{b}", "x://abcdef", values("a", "abc", "b", "def")},
		{"prefix of one", "x://{a:1}/{b:9999}", "x://a/bc", values("a", "a", "b", "bc")},
		{"prefix of a reserved value", "x:/{+a:6}/here", "x://foo/b/here", values("a", "/foo/b")},

		{"reserved", "file:///{+path}", "file:///a/b%20c?d#e", values("path", "a/b c?d#e")},
		{"reserved and a literal", "x:{+path}/here", "x:/foo/bar/here", values("path", "/foo/bar")},
		{"reserved and a name", "x:{+dir}/{name}", "x:/foo/bar/here", values("dir", "/foo/bar", "name", "here")},
		{"two reserved", "x:{+a,b}/here", "x:1024,/foo/bar/here", values("a", "1024", "b", "/foo/bar")},
		{"reserved list", "x:{+a*}", "x:red,/green", values("a", "red", "a", "/green")},
		{"reserved before a query", "x:{+a}{?q}", "x:/a/b?q=1", values("a", "/a/b", "q", "1")},
		{"reserved without its query", "x:{+a}{?q}", "x:/a/b", values("a", "/a/b")},
		{"reserved before a fragment", "x:{+a}{?q}{#f}", "x:/a?q=1#b?c", values("a", "/a", "q", "1", "f", "b?c")},
		{"reserved in a query", "x:/?ref={+a}", "x:/?ref=/a?b", values("a", "/a?b")},

		{"fragment", "X{#var}", "X#a/b,c", values("var", "a/b,c")},
		{"fragment absent", "X{#var}", "X", values()},
		{"fragment empty", "X{#var}", "X#", values("var", "")},
		{"fragment of two", "X{#a,b}", "X#1,/2", values("a", "1", "b", "/2")},
		{"fragment list", "X{#a*}", "X#1,/2", values("a", "1", "a", "/2")},

		{"label", "X{.a}", "X.value", values("a", "value")},
		{"label with a dot", "X{.a}", "X.tar.gz", values("a", "tar.gz")},
		{"labels", "X{.a,b}", "X.tar.gz", values("a", "tar", "b", "gz")},
		{"label list", "www{.dom*}", "www.example.com", values("dom", "example", "dom", "com")},
		{"label after a name", "x:{stem}{.ext}", "x:a.tar.gz", values("stem", "a.tar", "ext", "gz")},

		{"path", "x:{/a}", "x:/b", values("a", "b")},
		{"path of two", "x:{/a,b}/here", "x:/1/2/here", values("a", "1", "b", "2")},
		{"path list", "x:{/a*}", "x:/red/green/blue", values("a", "red", "a", "green", "a", "blue")},
		{"path list of one", "x:{/a*}", "x:/red", values("a", "red")},
		{"path list absent", "x:h{/a*}", "x:h", values()},
		{"path list with a hole", "x:{/a*}", "x:/1//2/", values("a", "1", "a", "", "a", "2", "a", "")},
		{"path list and a name", "x:{/a*,b}", "x:/1/2/3", values("a", "1", "a", "2", "b", "3")},
		{"path list with an escaped slash", "x:{/a*,b:4}", "x:/red/green/%2Ffoo", values("a", "red", "a", "green", "b", "/foo")},

		{"parameters", "x:{;a,b}", "x:;a=1;b=2", values("a", "1", "b", "2")},
		{"parameters in any order", "x:{;a,b}", "x:;b=2;a=1", values("a", "1", "b", "2")},
		{"parameter without a value", "x:{;a,b}", "x:;a;b=2", values("a", "", "b", "2")},
		{"parameter with an empty value", "x:{;a}", "x:;a=", values("a", "")},
		{"parameter list", "x:{;a*}", "x:;a=1;a=2", values("a", "1", "a", "2")},

		{"query", "x:s{?q,limit}", "x:s?q=go&limit=5", values("q", "go", "limit", "5")},
		{"query in any order", "x:s{?q,limit}", "x:s?limit=5&q=go", values("q", "go", "limit", "5")},
		{"query with an omission", "x:s{?q,limit}", "x:s?limit=5", values("limit", "5")},
		{"query absent", "x:s{?q,limit}", "x:s", values()},
		{"query value empty", "x:s{?q}", "x:s?q=", values("q", "")},
		{"query with what means nothing there", "x:s{?q}{&r}", "x:s?q=a/b:c&r=d@e", values("q", "a/b:c", "r", "d@e")},
		{"query that climbs", "x:s{?q}", "x:s?q=a/../b", nil},
		{"query decodes", "x:s{?q}", "x:s?q=a%26b%3Dc+d", nil},
		{"query decodes escapes", "x:s{?q}", "x:s?q=a%26b%3Dc%2Bd", values("q", "a&b=c+d")},
		{"query list", "x:s{?f*}", "x:s?f=1&f=2", values("f", "1", "f", "2")},
		{"query list and more", "x:s{?f*,g}", "x:s?f=1&g=3&f=2", values("f", "1", "f", "2", "g", "3")},
		{"query list in one value", "x:s{?f,g}", "x:s?g=3&f=1,2", values("f", "1", "f", "2", "g", "3")},
		{"query prefix", "x:s{?a:3}", "x:s?a=val", values("a", "val")},
		{"query key escaped", "x:s{?q}", "x:s?%71=1", values("q", "1")},
		{"query key with a dot", "x:s{?a.b}", "x:s?a.b=1", values("a.b", "1")},
		{"continuation", "x:s?fixed=yes{&x,y}", "x:s?fixed=yes&y=2&x=1", values("x", "1", "y", "2")},
		{"continuation absent", "x:s?fixed=yes{&x}", "x:s?fixed=yes", values()},
		{"query and continuation", "x:s{?a}{&b,c}", "x:s?a=1&c=3", values("a", "1", "c", "3")},
		{"query then a literal", "x:s{?a,b}#top", "x:s?b=1#top", values("b", "1")},
		{"query then an equal literal", "x:s{?a}a", "x:s?a=aaa", values("a", "aa")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := mustParse(t, tt.template).Match(tt.uri)
			if ok != (tt.want != nil) {
				t.Fatalf("%s against %s: got match %v, want %v", tt.uri, tt.template, ok, !ok)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s against %s (-want +got):\n%s", tt.uri, tt.template, diff)
			}
		})
	}
}

func TestNoMatch(t *testing.T) {
	tests := []struct{ name, template, uri string }{
		{"empty uri", "x{a}", ""},
		{"other literal", "x://a", "x://b"},
		{"shorter", "x://ab", "x://a"},
		{"longer", "x://a", "x://ab"},
		{"simple is empty", "x://{a}", "x://"},
		{"reserved is empty", "x://{+a}", "x://"},
		{"simple stops at /", "x://{a}", "x://b/c"},
		{"simple stops at ?", "x://{a}", "x://b?c"},
		{"simple stops at #", "x://{a}", "x://b#c"},
		{"simple stops at a comma", "x://{a}", "x://b,c"},
		{"simple stops at a colon", "x://{a}", "x://b:c"},
		{"simple takes no space", "x://{a}", "x://b c"},
		{"reserved takes no space", "x://{+a}", "x://b c"},
		{"first of two is empty", "x://{a,b}", "x://,1"},
		{"three for two", "x://{a,b}", "x://1,2,3"},
		{"escaped slash is no slash", "x://a/b", "x://a%2Fb"},
		{"prefix too long", "x://{a:3}", "x://abcd"},
		{"query prefix too long", "x:s{?a:3,b}", "x:s?a=abcd&b=1"},
		{"query prefix is no list", "x:s{?a:3}", "x:s?a=b,c"},
		{"unknown key", "x:s{?q}", "x:s?r=1"},
		{"unknown key after a known one", "x:s{?q}", "x:s?q=1&r=1"},
		{"unknown key before a known one", "x:s{?q}", "x:s?r=1&q=1"},
		{"unknown key after a reserved value", "x:{+a}{?q}", "x:/a?r=1"},
		{"key twice", "x:s{?q}", "x:s?q=1&q=2"},
		{"key twice, not adjacent", "x:s{?q,r}", "x:s?q=1&r=3&q=2"},
		{"key in another case", "x:s{?q}", "x:s?Q=1"},
		{"key without a value", "x:s{?q}", "x:s?q"},
		{"key with a stray percent sign", "x:s{?a%25}", "x:s?a%=1"},
		{"question mark alone", "x:s{?q}", "x:s?"},
		{"ampersand at the end", "x:s{?q}", "x:s?q=1&"},
		{"ampersand first", "x:s{?q}", "x:s&q=1"},
		{"two ampersands", "x:s{?q,r}", "x:s?q=1&&r=1"},
		{"semicolon between pairs", "x:s{?q,r}", "x:s?q=1;r=1"},
		{"path without a slash", "x:{/a*}", "x:a"},
		{"NUL", "x://{a}", "x://a%00"},
		{"control character", "x://{+a}", "x://a%0a"},
		{"DEL", "x://{+a}", "x://a%7F"},
		{"raw control character", "x://{+a}", "x://a\n"},
		{"C1 control character", "x://{+a}", "x://a%C2%85"},
		{"raw C1 control character", "x://{+a}", "x://a\u0085"},
		{"escapes that are not UTF-8", "x://{+a}", "x://a%FF"},
		{"half a character escaped", "x://{+a}", "x://a%C3"},
		{"one character in two values", "x://{a:1}{b}", "x://%C3%A9"},
		{"overlong dot", "x://{+a}", "x://%C0%AE%C0%AE/b"},
		{"surrogate", "x://{+a}", "x://%ED%A0%80"},
		{"raw bytes that are not UTF-8", "x://{+a}", "x://a\xff"},
		{"half an escape", "x://{+a}", "x://a%2"},
		{"escape that is none", "x://{+a}", "x://a%\x10\x11"},
		{"dot", "x://{a}", "x://."},
		{"two dots", "x://{a}", "x://.."},
		{"escaped dots", "x://{a}", "x://%2e%2E"},
		{"half escaped dots", "x://{a}", "x://.%2e"},
		{"dots in a path", "x://{+a}", "x://a/../b"},
		{"dots at the end of a path", "x://{+a}", "x://a/%2e%2e"},
		{"dots behind an escaped slash", "x://{a}", "x://a%2F.."},
		{"dots behind a backslash", "x://{a}", "x://a%5C..%5Cb"},
		{"dots in a list", "x:{/a*}", "x:/b/../c"},
		{"dots in a query", "x:s{?q}", "x:s?q=..%2Fa"},
		{"too long", "x:{+a}", "x:" + strings.Repeat("a", 8191)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := mustParse(t, tt.template).Match(tt.uri); ok || got != nil {
				t.Errorf("%s against %s: got %v, want no match", tt.uri, tt.template, got)
			}
		})
	}
}

// TestMatchLong crosses the word boundaries of the sets of positions.
func TestMatchLong(t *testing.T) {
	for _, n := range []int{1, 62, 63, 64, 65, 127, 128, 129, 1000, 8000} {
		for _, piece := range []string{"a", "é", "%C3%A9", "%2B"} {
			value := strings.Repeat(piece, n)
			uri := "x:" + value + "/" + value
			_, ok := mustParse(t, "x:{a}/{b}").Match(uri)
			if want := len(uri) <= 8192; ok != want {
				t.Errorf("%d times %q: got match %v, want %v", n, piece, ok, want)
			}
			if n > 4000 || len(uri) > 8192 {
				continue
			}
			limited := mustParse(t, "x:{a:"+strconv.Itoa(n)+"}/{+b}")
			if _, ok := limited.Match(uri); !ok {
				t.Errorf("%d times %q: got no match with the prefix length %d", n, piece, n)
			}
			if _, ok := limited.Match("x:a" + uri[2:]); ok {
				t.Errorf("%d times %q and one more: got a match with the prefix length %d", n, piece, n)
			}
		}
	}
}

func TestMatchBoundsValues(t *testing.T) {
	template := mustParse(t, "x:{/a*}")
	if got, ok := template.Match("x:" + strings.Repeat("/", 1024)); !ok || len(got) != 1024 {
		t.Errorf("1024 values: got match %v with %d", ok, len(got))
	}
	if _, ok := template.Match("x:" + strings.Repeat("/", 1025)); ok {
		t.Errorf("1025 values: got a match")
	}
}
