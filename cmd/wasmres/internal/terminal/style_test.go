package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpeaksUTF8(t *testing.T) {
	for name, tt := range map[string]struct {
		all, ctype, lang, term string
		want                   bool
	}{
		"nothing said":    {"", "", "", "xterm", false},
		"language":        {"", "", "de_DE.UTF-8", "xterm", true},
		"small letters":   {"", "", "C.utf8", "xterm", true},
		"all comes first": {"C", "C.UTF-8", "C.UTF-8", "xterm", false},
		"characters":      {"", "C.UTF-8", "C", "xterm", true},
		"dumb":            {"C.UTF-8", "", "", "dumb", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LC_ALL", tt.all)
			t.Setenv("LC_CTYPE", tt.ctype)
			t.Setenv("LANG", tt.lang)
			t.Setenv("TERM", tt.term)
			if got := speaksUTF8(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestParagraph(t *testing.T) {
	for name, tt := range map[string]struct{ name, text, want string }{
		"fits":               {"a", "one two", "a   one two\n"},
		"wrapped":            {"a", "one two three", "a   one two\n    three\n"},
		"a long word":        {"a", "x onetwothreefour y", "a   x\n    onetwothreefour\n    y\n"},
		"a name that is too": {"abcdef", "one", "abcdefone\n"},
		"without a text":     {"a", "", "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			Style{Width: 12}.Paragraph(&b, tt.name, 4, tt.text)
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
