package dashboard

import (
	"fmt"
	"math"
	"strconv"

	"github.com/wasmres/wasmres/internal/admin"
	"github.com/wasmres/wasmres/internal/webpage"
)

// A trial compares a version on trial with the active one, in pictures.
type trial struct {
	admin.Trial
	ActiveVersion      int
	Calls, Faults, P99 webpage.Lines // over the time since the trial began
}

// trialOf returns the pictures of a route's trial; nil if it has none. They end with the last step of time that is over.
func trialOf(r *admin.Route) *trial {
	if r.Trial == nil {
		return nil
	}
	t := &trial{Trial: *r.Trial, ActiveVersion: r.Active}
	if t.History == nil || len(t.History.Steps) < 2 {
		return t
	}
	steps := t.History.Steps[:len(t.History.Steps)-1]
	minutes := float64(t.History.StepSeconds) / 60
	ago := webpage.Seconds(float64(len(steps)*t.History.StepSeconds)) + " ago"
	plot := func(what string, value func(*admin.Counts) float64, format func(float64) string) webpage.Lines {
		active, canary := webpage.Series{Class: "one"}, webpage.Series{Class: "other"}
		for i := range steps {
			active.Values = append(active.Values, value(&steps[i].Active))
			canary.Values = append(canary.Values, value(&steps[i].Canary))
		}
		last := func(s *webpage.Series) string {
			if v := s.Values[len(s.Values)-1]; !math.IsNaN(v) {
				return format(v)
			}
			return "not known"
		}
		title := fmt.Sprintf("%s over time: version %d now %s, version %d now %s", what, r.Active, last(&active), t.Version, last(&canary))
		return webpage.NewLines(title, ago, "now", []webpage.Series{active, canary}, format)
	}
	t.Calls = plot("Calls a minute", func(c *admin.Counts) float64 { return float64(c.Calls) / minutes }, number)
	t.Faults = plot("Faults of 100 calls", func(c *admin.Counts) float64 {
		if c.Calls == 0 {
			return math.NaN()
		}
		return 100 * float64(c.Faults) / float64(c.Calls)
	}, percent)
	t.P99 = plot("99th percentile of the time of reads", func(c *admin.Counts) float64 {
		if c.P99Micros == 0 { // too few reads
			return math.NaN()
		}
		return float64(c.P99Micros) / 1e6
	}, webpage.Seconds)
	return t
}

// percent writes a share of 100 for a person, as in 2.5 %.
func percent(n float64) string { return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) + " %" }

func showRollouts(v *visit) error {
	found, err := v.api.WithPages(pageSize).Rollouts(v.r.Context(), v.after())
	if err != nil {
		return err
	}
	view := v.view("Rollouts", listOf(v, "rollouts", found))
	view.Refresh = refreshTime
	return v.show("rollouts", view)
}
