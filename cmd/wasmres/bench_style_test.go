package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/internal/bench/benchtest"
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

func TestBar(t *testing.T) {
	unicode, ascii := style{}, style{ascii: true}
	for _, tt := range []struct {
		style   style
		share   float64
		columns int
		want    string
	}{
		{unicode, 1, 3, "███"}, {unicode, 0.5, 3, "█▌"}, {unicode, 1e-9, 3, "▏"}, {unicode, 0, 3, ""}, {unicode, 1, 0, ""},
		{unicode, 1, -5, ""}, {ascii, 1, 3, "###"}, {ascii, 0.5, 3, "##"}, {ascii, 1e-9, 3, "#"}, {ascii, 0, 3, ""},
	} {
		if got := tt.style.bar(tt.share, tt.columns); got != tt.want {
			t.Errorf("%v of %d columns (ASCII %v): got %q, want %q", tt.share, tt.columns, tt.style.ascii, got, tt.want)
		}
	}
}

func TestLatency(t *testing.T) {
	for _, tt := range []struct {
		took           time.Duration
		latency, bound string
	}{
		{0, "0 ns", "0 ns"}, {999, "999 ns", "999 ns"}, {1000, "1.00 µs", "1 µs"}, {47_000, "47.0 µs", "47 µs"},
		{1_500_000, "1.50 ms", "1.5 ms"}, {220 * time.Millisecond, "220 ms", "220 ms"}, {time.Minute, "60.0 s", "60 s"},
		{100 * time.Second, "100 s", "100 s"},
	} {
		if got := (style{}).latency(tt.took); got != tt.latency {
			t.Errorf("%d ns: got %q, want %q", tt.took, got, tt.latency)
		}
		if got := (style{}).bound(tt.took); got != tt.bound {
			t.Errorf("%d ns as a bound: got %q, want %q", tt.took, got, tt.bound)
		}
	}
}

func TestFuelIsSaidOnceWhenItIsTheSame(t *testing.T) {
	for _, tt := range []struct {
		fuel                  benchedFuel
		sentence, cell, ascii string
	}{
		{benchedFuel{1234, 1234, 1234}, "1,234 for each read", "1,234", "1,234"},
		{benchedFuel{900, 1000, 1234}, "min 900, median 1,000, max 1,234", "900–1,234 (1,000)", "900-1,234 (1,000)"},
	} {
		if got := tt.fuel.sentence(); got != tt.sentence {
			t.Errorf("got %q, want %q", got, tt.sentence)
		}
		if got := tt.fuel.cell(style{}); got != tt.cell {
			t.Errorf("got %q, want %q", got, tt.cell)
		}
		if got := tt.fuel.cell(style{ascii: true}); got != tt.ascii {
			t.Errorf("got %q, want %q", got, tt.ascii)
		}
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
			style{width: 12}.paragraph(&b, tt.name, 4, tt.text)
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// uneven has a thousand requests, most of which take 20 to 40 µs and one a second.
func uneven(t *testing.T) *bench.Result {
	took := []time.Duration{time.Second}
	for i := range 999 {
		took = append(took, time.Duration(20_000+20*i))
	}
	return benchtest.Measured(t, took...)
}

func TestHistogram(t *testing.T) {
	const want = `20 us | #################### 10.0 %
22 us | #################### 10.0 %
24 us | ############################## 15.1 %
27 us | ############################# 14.9 %  p50
30 us | ############################## 15.2 %
33 us | ############################# 14.8 %
36 us | ############################## 15.1 %  p90
39 us | ######### 4.8 %  p99 p99.9
>= 43 us | # 0.1 %  max
`
	var b strings.Builder
	style{width: 62, ascii: true}.histogram(&b, uneven(t))
	if diff := cmp.Diff(want, spaced(b.String())); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// spaced makes one space of several, except before the marks.
func spaced(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		figures, marks, _ := strings.Cut(line, "%")
		b.WriteString(oneSpaced(figures) + " %" + marks)
	}
	return b.String()
}

func TestHistogramsAreNoWiderThanTheTerminal(t *testing.T) {
	for name, r := range map[string]*bench.Result{
		"uneven": uneven(t), "one request": benchtest.Measured(t, 3*time.Microsecond),
		"far apart": benchtest.Measured(t, 20, time.Second, time.Minute),
	} {
		for width := 1; width <= 200; width++ {
			for _, ascii := range []bool{true, false} {
				var b strings.Builder
				style{width: width, ascii: ascii}.histogram(&b, r)
				widest := 0
				for line := range strings.Lines(b.String()) {
					widest = max(widest, utf8.RuneCountInString(line)-1)
				}
				switch {
				case widest > width:
					t.Errorf("%s: at %d columns a line has %d:\n%s", name, width, widest, b.String())
				case width >= 60 && widest < width-20:
					t.Errorf("%s: at %d columns no line has more than %d:\n%s", name, width, widest, b.String())
				case ascii && strings.ContainsFunc(b.String(), func(r rune) bool { return r >= utf8.RuneSelf }):
					t.Errorf("%s: at %d columns it is not ASCII:\n%s", name, width, b.String())
				}
			}
		}
	}
}
