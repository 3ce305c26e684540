package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

func TestParseBefore(t *testing.T) {
	one := func(fields string) string { return `{"resources": [{"uri": "x:y", ` + fields + `}]}` }
	for name, tt := range map[string]struct{ text, wrong string }{
		"read":          {one(`"latencyMicros": {"p50": 20}`), ""},
		"failed":        {one(`"code": "trap"`), ""},
		"no JSON":       {"wasmres", "it is not JSON of bench"},
		"another JSON":  {`{"requests": 5}`, "it has no resources"},
		"wrong type":    {one(`"fuelPerRead": {"median": -1}`), "it is not JSON of bench"},
		"no URI":        {`{"resources": [{"latencyMicros": {"p50": 20}}]}`, "resource 0: "},
		"no latency":    {one(`"reads": 1`), "resource 0: its p50 is 0 microseconds"},
		"for ever":      {one(`"latencyMicros": {"p50": 1e300}`), "resource 0: its p50 is 1e+300 microseconds"},
		"too large":     {strings.Repeat(" ", maxBefore+1), "it has more than 16777216 bytes"},
		"not a number":  {one(`"latencyMicros": {"p50": "NaN"}`), "it is not JSON of bench"},
		"control bytes": {`{"resources": [{"uri": "x:\u001b[2J", "code": "trap"}]}`, "resource 0: "},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := parseBefore([]byte(tt.text))
			switch {
			case tt.wrong == "" && (err != nil || len(r.Resources) != 1):
				t.Errorf("got %+v, %v, want one resource", r, err)
			case tt.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.wrong)):
				t.Errorf("got %v, want %q", err, tt.wrong)
			}
		})
	}
}

func TestGrowth(t *testing.T) {
	for _, tt := range []struct{ before, now, want float64 }{
		{100, 100, 0}, {100, 150, 50}, {100, 50, -50}, {0, 0, 0}, {0, 5, 1e6}, {5, 0, -100},
		{math.SmallestNonzeroFloat64, 1e12, 1e6},
	} {
		if got := growth(tt.before, tt.now); got != tt.want {
			t.Errorf("from %g to %g: got %g, want %g", tt.before, tt.now, got, tt.want)
		}
	}
}

func TestFuelChange(t *testing.T) {
	for percent, want := range map[float64]string{
		0: "none", 12.34: "+12.3 %", -100: "-100.0 %", 0.003: "+0.003 %", 1e6: "+1000000.0 %",
	} {
		if got := fuelChange(percent); got != want {
			t.Errorf("%g: got %q, want %q", percent, got, want)
		}
	}
}

// FuzzParseBefore compares with what strangers may have written, and prints that.
func FuzzParseBefore(f *testing.F) {
	f.Add([]byte(`{"resources": [{"uri": "x:y", "fuelPerRead": {"median": 7}, "latencyMicros": {"p50": 20, "p75": -1e308}}]}`))
	f.Add([]byte(`{"provider": {"name": "\u001b[2J"}, "resources": [{"uri": "x:gone", "latencyMicros": {"p50": 1e-320}}]}`))
	f.Add([]byte(`{"resources": [{"uri": "x:y", "code": "trap"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := parseBefore(text)
		if err != nil {
			return
		}
		now := &benchReport{Resources: []benchedResource{{
			URI: "x:y", Reads: 1, Fuel: benchedFuel{1, 2, 3}, Latency: benchedLatency{P50: 5},
		}}}
		now.compare(before, false)
		if c := now.Resources[0].Change; c != nil {
			for _, percent := range []float64{c.FuelPercent, c.LatencyChange} {
				if math.IsNaN(percent) || percent < -100 || percent > 1e6 {
					t.Errorf("got %+v", c)
				}
			}
		}
		now.Resources[0].Change = nil // its latency is that of a result
		var b strings.Builder
		now.printChanges(&b, terminal.Style{Width: terminal.UnknownWidth}, "before.json")
		if strings.ContainsFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("it steers a terminal: %q", b.String())
		}
		for _, uri := range now.Gone {
			if abi.CheckURI(uri) != nil {
				t.Errorf("%q is gone, which is no URI", uri)
			}
		}
	})
}
