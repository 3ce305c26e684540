package dashboard

import (
	"strconv"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/webpage"
)

// A trial compares a version on trial with the active one, in pictures.
type trial struct {
	admin.Trial
	ActiveVersion      int
	Calls, Faults, P99 webpage.Plot
}

// trialOf returns the pictures of a route's trial; nil if it has none.
func trialOf(r *admin.Route) *trial {
	if r.Trial == nil {
		return nil
	}
	t := &trial{Trial: *r.Trial, ActiveVersion: r.Active}
	plot := func(title, class string, value func(*admin.Counts) float64, format func(float64) string) webpage.Plot {
		var columns []webpage.Column
		for _, of := range []struct {
			version int
			counts  *admin.Counts
		}{{r.Active, &t.Active}, {t.Version, &t.Canary}} {
			v, name := value(of.counts), "version "+strconv.Itoa(of.version)
			columns = append(columns, webpage.Column{Label: name, Hint: name + ": " + format(v), Parts: []webpage.Part{{Class: class, Value: v}}})
		}
		return webpage.NewSmallPlot(title, columns, format)
	}
	t.Calls = plot("Calls by version", "ok", func(c *admin.Counts) float64 { return float64(c.Calls) }, number)
	t.Faults = plot("Faults by version", "failed", func(c *admin.Counts) float64 { return float64(c.Faults) }, number)
	t.P99 = plot("99th percentile by version", "ok", func(c *admin.Counts) float64 { return float64(c.P99Micros) / 1e6 }, webpage.Seconds)
	return t
}

func showRollouts(v *visit) error {
	found, err := v.api.WithPages(pageSize).Rollouts(v.r.Context(), v.after())
	if err != nil {
		return err
	}
	view := v.view("Rollouts", listOf(v, "rollouts", found))
	view.Refresh = refreshTime
	return v.show("rollouts", view)
}
