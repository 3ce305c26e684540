package webpage_test

import (
	"math"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wasmres/wasmres/internal/webpage"
)

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		webpage.Size(0): "0 B", webpage.Size(1023): "1023 B", webpage.Size(2.4 * (1 << 20)): "2.4 MiB", webpage.Size(200 << 20): "200 MiB", webpage.Size(1 << 60): "1024 PiB",
		webpage.Count(0): "0", webpage.Count(999): "999", webpage.Count(1000): "1,000", webpage.Count(uint64(1234567)): "1,234,567", webpage.Count(-12345): "-12,345",
		webpage.Seconds(0): "0 s", webpage.Seconds(981e-6): "981.0 µs", webpage.Seconds(0.0113): "11.3 ms", webpage.Seconds(1.5): "1.5 s", webpage.Seconds(65): "1 min 5 s", webpage.Seconds(6 * 3600): "6 h 0 min",
		webpage.Short(3, "äöü"): "äöü", webpage.Short(3, "äöüß"): "äö…", webpage.Short(2, "\xff\xff\xff"): "\xff…",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMeters(t *testing.T) {
	for _, c := range []struct {
		used, most float64
		percent    int
		level      string
	}{{0, 100, 0, "ok"}, {79, 100, 79, "ok"}, {80, 100, 80, "high"}, {100, 100, 100, "full"}, {900, 100, 100, "full"}, {-1, 100, 0, "ok"}, {5, 0, 0, "ok"}} {
		if m := webpage.NewMeter("x", c.used, c.most, webpage.Size); m.Percent != c.percent || m.Level != c.level || (m.Most == "") != (c.most == 0) {
			t.Errorf("%v of %v: got %+v", c.used, c.most, m)
		}
	}
}

// Bars are within the picture, and as high as their values are to the highest.
func TestPlots(t *testing.T) {
	columns := []webpage.Column{
		{Label: "1", Parts: []webpage.Part{{Class: "ok", Value: 50}, {Class: "failed", Value: 50}}}, {Label: "2"}, {Label: "3", Parts: []webpage.Part{{Class: "ok", Value: 1e-9}}},
	}
	p := webpage.NewPlot("x", columns, webpage.Size)
	if len(p.Bars) != 3 || p.Most != "100 B" || p.Bars[0].Height != p.Bars[1].Height || p.Bars[2].Height < 1 {
		t.Fatalf("got %+v", p)
	}
	for _, b := range p.Bars {
		if b.X < 0 || b.Y < 0 || b.X+b.Width > float64(p.Width) || b.Y+b.Height > float64(p.Height) {
			t.Errorf("%+v is not within the picture", b)
		}
	}
	zero := []webpage.Column{{Label: "1", Parts: []webpage.Part{{Class: "ok"}}}}
	for name, p := range map[string]webpage.Plot{"none": webpage.NewPlot("x", nil, webpage.Size), "zero": webpage.NewPlot("x", zero, webpage.Size)} {
		if len(p.Bars)+len(p.Labels) > 0 {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

func TestNothingHiddenLeavesAPage(t *testing.T) {
	set, err := webpage.Parse(fstest.MapFS{"x.html": {Data: []byte(`{{define "main"}}<p title="{{.Main}}">{{.Main}}</p>{{end}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := set.Write(w, 200, "x", &webpage.View{Main: "<i>\u202e\x1b\u200b\"\xff"}); err != nil {
		t.Fatal(err)
	}
	if text := w.Body.String(); !strings.Contains(text, `<p title="&lt;i&gt;\u202e\x1b\u200b&#34;`) || strings.ContainsAny(text, "\u202e\x1b\u200b") {
		t.Errorf("got %s", text)
	}
}

func TestTheScriptIsSmall(t *testing.T) {
	info, err := os.Stat("refresh.js")
	if err != nil || info.Size() > 5<<10 {
		t.Errorf("got %d bytes, %v", info.Size(), err)
	}
}

// Lines are within the picture. What is not known interrupts them.
func TestLines(t *testing.T) {
	none := math.NaN()
	series := []webpage.Series{{Class: "one", Values: []float64{0, 50, none, 100}}, {Class: "other", Values: []float64{none, none, none, none}}}
	l := webpage.NewLines("x", "1 min ago", "now", series, func(f float64) string { return webpage.Count(int64(f)) })
	if len(l.Paths) != 1 || l.Most != "100" || l.Paths[0] != (webpage.Path{Class: "one", D: "M0 134h.1L80 74M240 14h.1"}) {
		t.Errorf("got %+v", l)
	}
	zero := webpage.NewLines("x", "", "", []webpage.Series{{Values: []float64{0}}}, webpage.Size)
	if len(zero.Paths) != 1 || zero.Paths[0].D != "M0 134h.1" || zero.Most != "0 B" {
		t.Errorf("zero: got %+v", zero)
	}
	if l := webpage.NewLines("x", "", "", nil, webpage.Size); len(l.Paths) > 0 {
		t.Errorf("nothing: got %+v", l)
	}
}
