package uritemplate_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/abi/uritemplate"
)

// repeat returns n copies of piece, in which # becomes the number of the copy.
func repeat(piece string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(piece, "#", strconv.Itoa(i)))
	}
	return b.String()
}

func mustParse(tb testing.TB, template string) *uritemplate.Template {
	tb.Helper()
	t, err := uritemplate.Parse(template)
	if err != nil {
		tb.Fatalf("Parse(%q): %v", template, err)
	}
	return t
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, template string
		variables      []string
	}{
		{"no expression", "config://app", []string{}},
		{"simple", "db://users/{user_id}", []string{"user_id"}},
		{"several", "x://{b,a}{?c*,d:3}", []string{"b", "a", "c", "d"}},
		{"every operator", "{a}{+b}{#c}{.d}{/e}{;f}{?g}{&h}", []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
		{"dots in a name", "{a.b.c}", []string{"a.b.c"}},
		{"escape in a name", "{a%20b}", []string{"a%20b"}},
		{"case matters", "{a}{A}", []string{"a", "A"}},
		{"longest prefix", "{a:9999}", []string{"a"}},
		{"escape in a literal", "x://%C3%A9/{a}", []string{"a"}},
		{"non-ASCII literal", "x://é/{a}", []string{"a"}},
		{"apostrophe", "x://it's/{a}", []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			template := mustParse(t, tt.template)
			if got := template.String(); got != tt.template {
				t.Errorf("String() = %q, want %q", got, tt.template)
			}
			if diff := cmp.Diff(tt.variables, template.Variables()); diff != "" {
				t.Errorf("Variables() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, template, want string }{
		{"empty", "", "empty"},
		{"too long", strings.Repeat("a", 2049), "2049 bytes"},
		{"too many expressions", repeat("{v#}", 33), "byte 150: more than 32 expressions"},
		{"too many variables", "{a" + repeat(",v#", 64) + "}", "more than 64 variables"},
		{"never closed", "a{b", "byte 1: expression is never closed"},
		{"never opened", "ab}", "byte 2: closing brace"},
		{"nested", "{a{b}}", `byte 2: want a comma or a closing brace after a variable, got '{'`},
		{"no variable", "x{}", `byte 2: want a variable name, got '}'`},
		{"operator alone", "x{+}", `byte 3: want a variable name, got '}'`},
		{"comma at the end", "{a,}", `byte 3: want a variable name`},
		{"comma at the start", "{,a}", `byte 1: operator ',' is reserved`},
		{"reserved =", "{=a}", `byte 1: operator '=' is reserved`},
		{"reserved !", "{!a}", `byte 1: operator '!' is reserved`},
		{"reserved @", "{@a}", `byte 1: operator '@' is reserved`},
		{"reserved |", "{|a}", `byte 1: operator '|' is reserved`},
		{"dot first", "{a,.b}", "byte 3: want a variable name"},
		{"dot last", "{a.}", "byte 3: want a variable name"},
		{"two dots", "{a..b}", "byte 3: want a variable name"},
		{"hyphen in a name", "{a-b}", "byte 2: want a comma"},
		{"non-ASCII name", "{é}", `byte 1: want a variable name, got 'é'`},
		{"half an escape in a name", "{a%2}", "byte 2: percent sign"},
		{"prefix of zero", "{a:0}", "byte 2: want a prefix length"},
		{"prefix with a leading zero", "{a:03}", "byte 2: want a prefix length"},
		{"prefix too long", "{a:10000}", "byte 2: want a prefix length"},
		{"prefix without a number", "{a:}", "byte 2: want a prefix length"},
		{"two modifiers", "{a*:3}", "byte 3: want a comma"},
		{"repeated", "{a}/{b}/{a}", `byte 9: variable "a" appears twice`},
		{"repeated in one expression", "{?a,a}", `byte 4: variable "a" appears twice`},
		{"repeated in disguise", "{a}{%61}", `byte 4: variable "%61" appears twice`},
		{"space", "a b{c}", `byte 1: character ' ' is not allowed`},
		{"backslash", `a\b`, `byte 1: character '\\' is not allowed`},
		{"NUL", "a\x00", `byte 1: character '\x00' is not allowed`},
		{"C1 control", "a\u0085", `byte 1: character '\u0085' is not allowed`},
		{"invalid UTF-8", "a\xff", "byte 1: invalid UTF-8"},
		{"half an escape", "a%2", "byte 1: percent sign"},
		{"escape that is none", "a%zz", "byte 1: percent sign"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := uritemplate.Parse(tt.template)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}
