package textwidth_test

import (
	"strings"
	"testing"

	"github.com/wasmres/wasmres/internal/textwidth"
)

// family is one character of four people that zero width joiners join; e has an acute accent as a mark of its own.
const (
	family = "👨‍👩‍👧‍👦"
	eAcute = "e\u0301"
)

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "plain": 5, "漢字": 4, eAcute: 1, family: 2, "ｶﾅ": 2, "…": 1} {
		if got := textwidth.Of(text); got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for name, tt := range map[string]struct {
		line    string
		columns int
		want    string
	}{
		"fits":                {"漢字", 4, "漢字"},
		"half of a character": {"漢字漢", 4, "漢…"},
		"marks":               {strings.Repeat(eAcute, 3), 2, eAcute + "…"},
		"joined":              {family + family, 3, family + "…"},
		"one column":          {"ab", 1, "…"},
		"no column":           {"ab", 0, ""},
		"less than none":      {"ab", -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := textwidth.Clip(tt.line, tt.columns, "…"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPadAndCut(t *testing.T) {
	if got := textwidth.Pad("漢", 4); got != "漢  " {
		t.Errorf("padded to %q", got)
	}
	for _, tt := range []struct {
		line       string
		columns    int
		head, rest string
	}{{"漢字x", 3, "漢", "字x"}, {"漢", 1, "漢", ""}, {"", 5, "", ""}, {family + "x", 2, family, "x"}} {
		if head, rest := textwidth.Cut(tt.line, tt.columns); head != tt.head || rest != tt.rest {
			t.Errorf("%q in %d columns is %q and %q", tt.line, tt.columns, head, rest)
		}
	}
}

// What Cut returns fits, and nothing is lost.
func FuzzCut(f *testing.F) {
	f.Add("漢字 "+family+eAcute, 5)
	f.Fuzz(func(t *testing.T, line string, columns int) {
		columns = 2 + columns&63
		whole := line
		var parts strings.Builder
		for line != "" {
			head, rest := textwidth.Cut(line, columns)
			if head == "" || textwidth.Of(head) > columns {
				t.Fatalf("%q of %q has %d columns, at most %d", head, line, textwidth.Of(head), columns)
			}
			parts.WriteString(head)
			line = rest
		}
		if parts.String() != whole {
			t.Fatalf("%q became %q", whole, parts.String())
		}
		if clipped := textwidth.Clip(whole, columns, "…"); textwidth.Of(clipped) > columns {
			t.Fatalf("%q has %d columns, at most %d", clipped, textwidth.Of(clipped), columns)
		}
	})
}
