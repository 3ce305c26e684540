package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wasmres/wasmres/internal/bench"
)

const maxBars = 16 // of a histogram

// marked are the quantiles that are shown beside the bars.
var marked = []float64{50, 90, 99, 99.9, 100}

// histogram draws how many reads took how long, a bar for each bucket, no wider than there are columns.
func (s style) histogram(w io.Writer, r *bench.Result) {
	rows := s.bars(r)
	most, label, marks := 0.0, 0, 0
	for _, b := range rows {
		most = max(most, b.share)
		label = max(label, utf8.RuneCountInString(b.label))
		marks = max(marks, len(b.marks))
	}
	const share = len(" 100.0 %")
	room := s.width - len("  ") - label - len(" | ") - share - len("  ") - marks
	for _, b := range rows {
		bar := s.bar(b.share/most, room)
		line := fmt.Sprintf("  %*s %s %s%*s%*s  %s", label, b.label, s.either("│", "|"), bar,
			max(room-utf8.RuneCountInString(bar), 0), "", share, percentage(b.share), b.marks)
		fmt.Fprintln(w, strings.TrimRight(s.cut(line), " "))
	}
}

// percentage prints a share of the reads; nothing for none.
func percentage(share float64) string {
	switch {
	case share == 0:
		return ""
	case share < 0.001:
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", share*100)
}

// cut takes off what is beyond the last column.
func (s style) cut(line string) string {
	if runes := []rune(line); len(runes) > s.width {
		return string(runes[:s.width])
	}
	return line
}

// A histogramBar is one line of a histogram.
type histogramBar struct {
	label string
	share float64 // of the reads
	marks string  // names of the quantiles it holds
}

func (s style) bars(r *bench.Result) []histogramBar {
	buckets := r.Buckets(maxBars)
	var rows []histogramBar
	before := int64(0)
	for i, b := range buckets {
		row := histogramBar{label: s.bound(b.From), share: float64(b.Requests) / float64(r.Requests)}
		if i == len(buckets)-1 && wider(buckets) {
			row.label = s.either("≥ ", ">= ") + row.label
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

// wider reports whether the last bucket has the slowest of all, however slow they were.
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
