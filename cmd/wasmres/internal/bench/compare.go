package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
)

const (
	maxBefore = 16 << 20 // bytes of an earlier report
	maxMicros = 1e12     // microseconds of a latency in it
)

// A benchedChange compares a resource with an earlier run.
type benchedChange struct {
	FuelBefore    uint64  `json:"fuelBefore"` // the median
	FuelPercent   float64 `json:"fuelPercent"`
	P50Before     float64 `json:"p50MicrosBefore"`
	LatencyChange float64 `json:"p50Percent"`
	Noise         bool    `json:"p50Noise"` // the change is less than reads of one run differ
}

// readBefore reads the report of --compare; nil without it.
func readBefore(c *cli.Context) (*benchReport, error) {
	file := c.String("compare")
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBefore+1))
	if err != nil {
		return nil, err
	}
	before, err := parseBefore(text)
	if err != nil {
		return nil, fmt.Errorf("--compare %s: %w; make it with wasmres bench --output-format json", file, err)
	}
	return before, nil
}

// parseBefore parses and checks a report.
func parseBefore(text []byte) (*benchReport, error) {
	if len(text) > maxBefore {
		return nil, fmt.Errorf("it has more than %d bytes", maxBefore)
	}
	var r benchReport
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("it is not JSON of bench: %w", err)
	}
	if len(r.Resources) == 0 {
		return nil, errors.New("it has no resources")
	}
	for i := range r.Resources {
		one := &r.Resources[i]
		if err := abi.CheckURI(one.URI); err != nil {
			return nil, fmt.Errorf("resource %d: %w", i, err)
		}
		if p50 := one.Latency.P50; one.Code == "" && (p50 <= 0 || p50 > maxMicros) {
			return nil, fmt.Errorf("resource %d: its p50 is %g microseconds, expected more than 0 and at most %g",
				i, p50, maxMicros)
		}
	}
	return &r, nil
}

// compare adds the changes since an earlier run, unless before is nil. A resource of that run is gone if it fails now. It is
// also gone if this run has not measured it, unless the user named the resources with --uri.
func (b *benchReport) compare(before *benchReport, named bool) {
	if before == nil {
		return
	}
	b.Compared = &before.Provider
	now := map[string]*benchedResource{}
	for i := range b.Resources {
		now[b.Resources[i].URI] = &b.Resources[i]
	}
	for i := range before.Resources {
		then := &before.Resources[i]
		one := now[then.URI]
		switch {
		case then.Code != "":
		case one == nil && named:
		case one == nil || one.Code != "":
			b.Gone = append(b.Gone, then.URI)
		default:
			one.Change = &benchedChange{
				FuelBefore: then.Fuel.Median, FuelPercent: growth(float64(then.Fuel.Median), float64(one.Fuel.Median)),
				P50Before: then.Latency.P50, LatencyChange: growth(then.Latency.P50, one.Latency.P50),
				Noise: one.Latency.noise(then.Latency),
			}
		}
	}
}

// noise reports whether the medians differ by no more than the distance from p50 to p75 in one of the runs.
func (l benchedLatency) noise(o benchedLatency) bool {
	return math.Abs(l.P50-o.P50) <= max(l.P75-l.P50, o.P75-o.P50)
}

// growth returns by how many percent now is more than before, at most a million.
func growth(before, now float64) float64 {
	const most = 1e6
	if before == now {
		return 0
	}
	return min((now-before)/before*100, most)
}

// verdict returns an error if no resource could be read, or --max-fuel-growth is exceeded.
func (b *benchReport) verdict(c *cli.Context) error {
	switch measured := func(r benchedResource) bool { return r.Code == "" }; {
	case !slices.ContainsFunc(b.Resources, measured):
		return errors.New("no resource could be read: name one with --uri")
	case !c.IsSet("max-fuel-growth"):
		return nil
	}
	grown, compared := 0, 0
	for i := range b.Resources {
		change := b.Resources[i].Change
		if change == nil {
			continue
		}
		compared++
		if change.FuelPercent > c.Float64("max-fuel-growth") {
			grown++
		}
	}
	switch {
	case len(b.Gone) > 0:
		return fmt.Errorf("%s measured before, but not now: see above",
			terminal.Numbered(len(b.Gone), "resource was", "resources were"))
	case compared == 0:
		return errors.New("no resource was measured in both runs: name those of the earlier run with --uri")
	case grown > 0:
		return fmt.Errorf("%s more fuel than before by over %g %%: see above",
			terminal.Numbered(grown, "read uses", "reads use"), c.Float64("max-fuel-growth"))
	}
	return nil
}
