package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/printable"
)

func TestLineAndText(t *testing.T) {
	for name, c := range map[string]struct{ given, line, text string }{
		"plain":              {"Grüße, 世界 👍🏽 שלום\t!", "Grüße, 世界 👍🏽 שלום\t!", "Grüße, 世界 👍🏽 שלום\t!"},
		"line breaks":        {"a\nb\r\nc", `a\nb\r\nc`, "a\nb\\r\nc"},
		"terminal":           {"\x1b[31mred\u009b0m\a\x7f", `\x1b[31mred\u009b0m\a\x7f`, `\x1b[31mred\u009b0m\a\x7f`},
		"overrides":          {"\u202aa\u202bb\u202cc\u202dd\u202ee", `\u202aa\u202bb\u202cc\u202dd\u202ee`, `\u202aa\u202bb\u202cc\u202dd\u202ee`},
		"isolates":           {"\u2066a\u2067b\u2068c\u2069", `\u2066a\u2067b\u2068c\u2069`, `\u2066a\u2067b\u2068c\u2069`},
		"marks of direction": {"\u200e\u200f\u061c", `\u200e\u200f\u061c`, `\u200e\u200f\u061c`},
		"no width":           {"\u200b\u2060\ufeff\u00ad", `\u200b\u2060\ufeff\u00ad`, `\u200b\u2060\ufeff\u00ad`},
		"joiners":            {"می\u200cخواهم 👩\u200d💻", `می\u200cخواهم 👩\u200d💻`, "می\u200cخواهم 👩\u200d💻"},
		"separators":         {"a\u2028b\u2029c", `a\u2028b\u2029c`, `a\u2028b\u2029c`},
		"fillers":            {"\u3164\u115f\u2800", `\u3164\u115f\u2800`, `\u3164\u115f\u2800`},
		"tags":               {"\U000e0041", `\U000e0041`, `\U000e0041`},
		"not UTF-8":          {"a\xffb\xc3", `a\xffb\xc3`, `a\xffb\xc3`},
		"replacement":        {"a\uFFFDb", "a\uFFFDb", "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := printable.Line(c.given); got != c.line {
				t.Errorf("Line: got %q, want %q", got, c.line)
			}
			if got := printable.Text(c.given); got != c.text {
				t.Errorf("Text: got %q, want %q", got, c.text)
			}
		})
	}
}

// TestNothingSteers looks at every code point: those that Go calls formats or controls do not pass.
func TestNothingSteers(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == '\t' {
			continue
		}
		steers := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control)
		if got := printable.Line(string(r)); steers && strings.ContainsRune(got, r) {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\u202e\x1b\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{printable.Line(s), printable.Text(s)} {
			if !utf8.ValidString(got) || len(got) > 10*len(s) || printable.Text(got) != got {
				t.Errorf("%q is shown as %q", s, got)
			}
		}
		if got := printable.Line(s); strings.ContainsFunc(got, func(r rune) bool { return r != '\t' && printable.Hidden(r) }) {
			t.Errorf("%q is shown as %q", s, got)
		}
	})
}
