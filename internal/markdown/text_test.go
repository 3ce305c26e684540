package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/lazyregexp"
	"github.com/wasmres/wasmres/internal/markdown"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/internal/textwidth"
)

func TestText(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"heading and paragraph": {"# One\n\ntwo *three* **four**\nfive", "# One\n\ntwo three four five\n"},
		"a long paragraph":      {"aaaaaaaa bbbbbbbb cccccccc dddddddd", "aaaaaaaa bbbbbbbb\ncccccccc dddddddd\n"},
		"a long word":           {strings.Repeat("x", 25), strings.Repeat("x", 20) + "\nxxxxx\n"},
		"wide characters":       {strings.Repeat("漢", 11), strings.Repeat("漢", 10) + "\n漢\n"},
		"hard break":            {"one  \ntwo", "one\ntwo\n"},
		"lists":                 {"- one\n- two\n  1. three\n  2. four\n", "- one\n- two\n  1. three\n  2. four\n"},
		"a loose list":          {"- one\n\n- two\n", "- one\n\n- two\n"},
		"quote":                 {"> one\n>\n> two", "> one\n>\n> two\n"},
		"code":                  {"```go\na\n\tb\n```", "    a\n        b\n"},
		"code in a line":        {"a `b` c", "a `b` c\n"},
		"link":                  {"[a](https://b.example) <https://c.example>", "a\n(https://b.example)\nhttps://c.example\n"},
		"picture":               {"![a](b.png)", "[image: a] (b.png)\n"},
		"rule":                  {"a\n\n---\n\nb", "a\n\n--------------------\n\nb\n"},
		"html":                  {"<b>a</b>\n\n<div>\nb\n</div>", "<b>a</b>\n\n<div>\nb\n</div>\n"},
		"entities":              {"&lt;a&gt; \\*b\\*", "<a> *b*\n"},
		"table":                 {"|a|b|\n|-|-|\n|漢|long words here|", "a   b\n--  ---------------\n漢  long words here\n"},
		"a table that is wider": {"|a|b|\n|-|-|\n|one two|three four five|", "a        b\n-------  -----------\none two  three four\n         five\n"},
		"too many columns":      {"|a|b|c|\n|-|-|-|\n|1|2|3|", "a: 1\nb: 2\nc: 3\n"},
		"nothing":               {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := markdown.Page{Width: 20, ASCII: true}.Render([]byte(tt.source))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	got := markdown.Page{Width: 40, Styled: true}.Render([]byte("*a* **b** `c` ~~d~~ [e](f)"))
	want := "\x1b[3ma\x1b[0m \x1b[1mb\x1b[0m \x1b[1mc\x1b[0m \x1b[9md\x1b[0m \x1b[4me\x1b[0m \x1b[2m(f)\x1b[0m\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// ownStyle is an escape sequence of this package.
var ownStyle = lazyregexp.New(`\x1b\[[0-9;]+m`)

// checkHarmless reports what a page has that steers a terminal, or that a person does not see.
func checkHarmless(t *testing.T, page string) {
	t.Helper()
	bare := ownStyle.Get().ReplaceAllString(page, "")
	for _, r := range bare {
		if r != '\n' && r != '\u200c' && r != '\u200d' && printable.Hidden(r) {
			t.Fatalf("%q has %q", bare, r)
		}
	}
	if !utf8.ValidString(page) {
		t.Fatalf("%q is not UTF-8", page)
	}
}

// hostile are texts that steer terminals: the clipboard, a link that shows another, colours, a report, and directions.
var hostile = []string{"\x1b]52;c;YQ==\a", "\x1b]8;;https://a.example\x1b\\b\x1b]8;;\x1b\\", "\x1b[31mred", "\u009b2J", "\x1b[6n", "\u202eabc\u2066", "&#27;]52;c;YQ==&#7;", "&#x9b;2J", "&#x202e;a", "\r\x1b[Kgone", "\xff\xfe", "\x00", "\u200e", "\U000e0041"}

func TestHostileText(t *testing.T) {
	for _, text := range hostile {
		for _, frame := range []string{"%", "# %", "*%*", "`%`", "    %", "```%\n%\n```", "[%](%)", "![%](<%> \"%\")", "<%>", "<b %>", "<div>\n%\n</div>", "> %", "- %", "|%|%|\n|-|-|\n|%|%|", "https://a.example/%", "[a]: <%>\n\n[a]"} {
			source := strings.ReplaceAll(frame, "%", text)
			for _, p := range []markdown.Page{{Width: 80, Styled: true}, {Width: 1}} {
				checkHarmless(t, p.Render([]byte(source)))
			}
		}
	}
}

// Deep and long sources are rendered in a time and into a size that do not explode.
func TestLargeSources(t *testing.T) {
	const size = 8 << 10
	for name, unit := range map[string]string{"quotes": "> ", "lists": "- ", "numbers": "1. ", "emphasis": "*a_", "links": "[", "pictures": "![a](", "pipes": "|", "html": "<", "code": "`a", "rows": "|a|b|\n|-|-|\n"} {
		source := strings.Repeat(unit, size/len(unit))
		page := markdown.Page{Width: 60, Styled: true}.Render([]byte(source))
		checkHarmless(t, page)
		if len(page) > 64*size {
			t.Errorf("%s: %d bytes became %d", name, size, len(page))
		}
	}
}

func FuzzText(f *testing.F) {
	for _, text := range hostile {
		f.Add([]byte("# "+text+"\n\n|a|"+text+"|\n|-|-|\n|c|d|\n\n> - ["+text+"](b)"), 40)
	}
	f.Fuzz(func(t *testing.T, source []byte, width int) {
		if len(source) > 4<<10 {
			return
		}
		width &= 255
		page := markdown.Page{Width: width, Styled: len(source)%2 == 0}.Render(source)
		checkHarmless(t, page)
		if width < 80 {
			return
		}
		for line := range strings.Lines(ownStyle.Get().ReplaceAllString(page, "")) {
			if got := textwidth.Of(strings.TrimRight(line, "\n")); got > width {
				t.Fatalf("%q has %d columns of %d", line, got, width)
			}
		}
	})
}
