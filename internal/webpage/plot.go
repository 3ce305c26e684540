package webpage

import (
	"math"
	"slices"
)

// Sizes of a plot, in its own units.
const (
	plotWidth  = 640
	linesWidth = 240
	plotHeight = 120
	plotTop    = 14 // for the number of the highest bar
)

// A Part is one colour of a bar.
type Part struct {
	Class string // of the style: ok, refused, limited, failed, or one
	Value float64
}

// A Column is one bar of a plot.
type Column struct {
	Label string // below the bar
	Hint  string // what the bar says in words
	Parts []Part // from below
}

// A Plot is a picture of bars. One without Labels is not drawn.
type Plot struct {
	Title  string // for people who do not see it
	Most   string // what the highest bar says
	Width  int
	Height int
	Bars   []Bar
	Labels []Label
}

// A Bar is a part of a bar, as it is drawn.
type Bar struct {
	Class               string
	Hint                string
	X, Y, Width, Height float64
}

// A Label is a text below bars.
type Label struct {
	X    float64
	Text string
}

// NewPlot draws columns, or nothing if all are zero. format writes a value for a person.
func NewPlot(title string, columns []Column, format func(float64) string) Plot {
	p := newPlot(title, columns, format)
	if len(p.Bars) == 0 {
		p.Labels = nil
	}
	return p
}

func newPlot(title string, columns []Column, format func(float64) string) Plot {
	p := Plot{Title: title, Width: plotWidth, Height: plotHeight + plotTop + 18}
	if len(columns) == 0 {
		return p
	}
	most := 0.0
	for _, c := range columns {
		most = max(most, c.sum())
	}
	p.Most = format(most)
	step := math.Min(float64(plotWidth)/float64(len(columns)), 96)
	width := math.Max(step*0.72, 1)
	every := (len(columns) + 9) / 10 // labels have room
	for i, c := range columns {
		x, y := float64(i)*step+(step-width)/2, float64(plotTop+plotHeight)
		for _, part := range c.Parts {
			if part.Value <= 0 || most == 0 {
				continue
			}
			height := math.Max(part.Value/most*plotHeight, 1)
			y -= height
			p.Bars = append(p.Bars, Bar{part.Class, c.Hint, round(x), round(y), round(width), round(height)})
		}
		if i%every == 0 {
			p.Labels = append(p.Labels, Label{round(x + width/2), c.Label})
		}
	}
	p.Bars = slices.Clip(p.Bars)
	return p
}

func (c *Column) sum() (all float64) {
	for _, p := range c.Parts {
		all += p.Value
	}
	return all
}

func round(f float64) float64 { return math.Round(f*10) / 10 }

// A Meter says how much of something is used.
type Meter struct {
	Name    string
	Used    string
	Most    string // empty for no bound
	Percent int    // from 0 to 100
	Level   string // ok, high from 80 percent, or full from 100
}

// NewMeter returns a Meter of a value and its bound; most is 0 for none. format writes them for a person.
func NewMeter(name string, used, most float64, format func(float64) string) Meter {
	m := Meter{Name: name, Used: format(used), Level: "ok"}
	if most <= 0 {
		return m
	}
	m.Most, m.Percent = format(most), int(math.Min(math.Max(used/most*100, 0), 100))
	switch {
	case m.Percent >= 100:
		m.Level = "full"
	case m.Percent >= 80:
		m.Level = "high"
	}
	return m
}
