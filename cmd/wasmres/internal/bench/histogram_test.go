package bench

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/internal/bench/benchtest"
)

func TestBar(t *testing.T) {
	unicode, ascii := terminal.Style{}, terminal.Style{ASCII: true}
	for _, tt := range []struct {
		style   terminal.Style
		share   float64
		columns int
		want    string
	}{
		{unicode, 1, 3, "███"}, {unicode, 0.5, 3, "█▌"}, {unicode, 1e-9, 3, "▏"}, {unicode, 0, 3, ""}, {unicode, 1, 0, ""},
		{unicode, 1, -5, ""}, {ascii, 1, 3, "###"}, {ascii, 0.5, 3, "##"}, {ascii, 1e-9, 3, "#"}, {ascii, 0, 3, ""},
	} {
		if got := bar(tt.style, tt.share, tt.columns); got != tt.want {
			t.Errorf("%v of %d columns (ASCII %v): got %q, want %q", tt.share, tt.columns, tt.style.ASCII, got, tt.want)
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
		if got := latency(terminal.Style{}, tt.took); got != tt.latency {
			t.Errorf("%d ns: got %q, want %q", tt.took, got, tt.latency)
		}
		if got := bound(terminal.Style{}, tt.took); got != tt.bound {
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
		if got := tt.fuel.cell(terminal.Style{}); got != tt.cell {
			t.Errorf("got %q, want %q", got, tt.cell)
		}
		if got := tt.fuel.cell(terminal.Style{ASCII: true}); got != tt.ascii {
			t.Errorf("got %q, want %q", got, tt.ascii)
		}
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
	histogram(&b, terminal.Style{Width: 62, ASCII: true}, uneven(t))
	if diff := cmp.Diff(want, spaced(b.String())); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// spaced makes one space of several, except before the marks.
func spaced(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		figures, marks, _ := strings.Cut(line, "%")
		b.WriteString(terminal.OneSpace(figures) + " %" + marks)
	}
	return b.String()
}

func TestHistogramsAreNoWiderThanTheTerminal(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 9
	}
	for name, r := range map[string]*bench.Result{
		"uneven": uneven(t), "one request": benchtest.Measured(t, 3*time.Microsecond),
		"far apart": benchtest.Measured(t, 20, time.Second, time.Minute),
	} {
		for width := 1; width <= 200; width += step {
			for _, ascii := range []bool{true, false} {
				var b strings.Builder
				histogram(&b, terminal.Style{Width: width, ASCII: ascii}, r)
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
