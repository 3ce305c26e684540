package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/bench"
)

const maxBars = 16 // of a histogram

// marked are the quantiles shown beside the bars.
var marked = []float64{50, 90, 99, 99.9, 100}

// histogram draws a bar for each bucket of latencies, no wider than s.
func histogram(w io.Writer, s terminal.Style, r *bench.Result) {
	rows := bars(s, r)
	most, label, marks := 0.0, 0, 0
	for _, b := range rows {
		most = max(most, b.share)
		label = max(label, utf8.RuneCountInString(b.label))
		marks = max(marks, len(b.marks))
	}
	const share = len(" 100.0 %")
	room := s.Width - len("  ") - label - len(" | ") - share - len("  ") - marks
	for _, b := range rows {
		bar := bar(s, b.share/most, room)
		line := fmt.Sprintf("  %*s %s %s%*s%*s  %s", label, b.label, s.Either("│", "|"), bar,
			max(room-utf8.RuneCountInString(bar), 0), "", share, percentage(b.share), b.marks)
		fmt.Fprintln(w, strings.TrimRight(cut(line, s.Width), " "))
	}
}

// percentage returns a share of the reads; empty for 0.
func percentage(share float64) string {
	switch {
	case share == 0:
		return ""
	case share < 0.001:
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", share*100)
}

// cut removes the characters after the last column.
func cut(line string, width int) string {
	if runes := []rune(line); len(runes) > width {
		return string(runes[:width])
	}
	return line
}

// A histogramBar is one line of a histogram.
type histogramBar struct {
	label string
	share float64 // of the reads
	marks string  // names of the quantiles in it
}

func bars(s terminal.Style, r *bench.Result) []histogramBar {
	buckets := r.Buckets(maxBars)
	var rows []histogramBar
	before := int64(0)
	for i, b := range buckets {
		row := histogramBar{label: bound(s, b.From), share: float64(b.Requests) / float64(r.Requests)}
		if i == len(buckets)-1 && wider(buckets) {
			row.label = s.Either("≥ ", ">= ") + row.label
		}
		var marks []string
		for _, percent := range marked {
			nth := max(int64(percent/100*float64(r.Requests)+0.5), 1)
			if before < nth && nth <= before+b.Requests {
				marks = append(marks, quantileName(percent))
			}
		}
		before += b.Requests
		row.marks = strings.Join(marks, " ")
		rows = append(rows, row)
	}
	return rows
}

// wider reports whether the last bucket has no upper bound.
func wider(buckets []bench.Bucket) bool {
	if len(buckets) < 2 {
		return false
	}
	ratio := func(b bench.Bucket) float64 { return float64(b.To) / float64(b.From) }
	return ratio(buckets[len(buckets)-1]) > 1.3*ratio(buckets[0])
}

func quantileName(percent float64) string {
	if percent == 100 {
		return "max"
	}
	return fmt.Sprintf("p%g", percent)
}

// blocks fill one to eight eighths of a column, from the left.
var blocks = []rune("▏▎▍▌▋▊▉█")

// bar draws a share, from 0 to 1, of a number of columns. A share above 0 is visible.
func bar(s terminal.Style, share float64, columns int) string {
	if share <= 0 || columns <= 0 {
		return ""
	}
	if s.ASCII {
		return strings.Repeat("#", max(1, int(share*float64(columns)+0.5)))
	}
	eighths := max(1, int(share*float64(columns*len(blocks))+0.5))
	whole, rest := eighths/len(blocks), eighths%len(blocks)
	text := strings.Repeat(string(blocks[len(blocks)-1]), whole)
	if rest > 0 {
		text += string(blocks[rest-1])
	}
	return text
}

// latency returns a time with three digits.
func latency(s terminal.Style, d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {s.Either("µs", "us"), time.Microsecond}} {
		if d >= unit.size {
			return threeDigits(float64(d)/float64(unit.size)) + " " + unit.name
		}
	}
	return strconv.Itoa(int(d)) + " ns"
}

// bound returns the bound of a bucket, which has two digits.
func bound(s terminal.Style, d time.Duration) string {
	number, unit, _ := strings.Cut(latency(s, d), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

func threeDigits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// perSecond returns a rate with at most one decimal.
func perSecond(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return terminal.Grouped(uint64(rate + 0.5))
}
