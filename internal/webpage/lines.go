package webpage

import (
	"fmt"
	"math"
	"strings"
)

// A Series is one line of values at equal distances. A value that is not known is NaN, and interrupts the line.
type Series struct {
	Class  string // of the style: one or other
	Values []float64
}

// Lines is a small picture of lines with a common scale that begins at 0. One without Paths is not drawn.
type Lines struct {
	Title         string // for people who do not see it
	Most          string // what the highest point says
	Width, Height int
	Paths         []Path
	From, To      string // below the ends
}

// A Path is a line as it is drawn.
type Path struct{ Class, D string }

// NewLines draws series, which are as long as each other. format writes a value for a person.
func NewLines(title, from, to string, series []Series, format func(float64) string) Lines {
	l := Lines{Title: title, Width: linesWidth, Height: plotHeight + plotTop + 18, From: from, To: to}
	most := 0.0
	for _, s := range series {
		for _, v := range s.Values {
			if v > most { // which NaN is not
				most = v
			}
		}
	}
	l.Most = format(most)
	for _, s := range series {
		if d := pathOf(s.Values, most); d != "" {
			l.Paths = append(l.Paths, Path{s.Class, d})
		}
	}
	return l
}

// pathOf returns the line of values, of which most is the highest of all series. A value alone is a dot.
func pathOf(values []float64, most float64) string {
	var d strings.Builder
	step := linesWidth / math.Max(float64(len(values)-1), 1)
	follows := false
	for i, v := range values {
		if math.IsNaN(v) {
			follows = false
			continue
		}
		y := float64(plotTop + plotHeight)
		if most > 0 {
			y -= math.Max(v, 0) / most * plotHeight
		}
		kind := "L"
		if !follows {
			kind = "M"
		}
		fmt.Fprintf(&d, "%s%g %g", kind, round(float64(i)*step), round(y))
		if !follows {
			d.WriteString("h.1")
		}
		follows = true
	}
	return d.String()
}
