package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/printable"
	"github.com/wasmres/wasmres/runtime"
)

func (b *benchRun) print(r *benchReport) error {
	w := b.c.App.Writer
	if format := b.c.String("output-format"); format != cli.FormatTable {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return cli.PrintData(w, format, text)
	}
	s := terminal.NewStyle(w)
	if b.named() {
		for i := range r.Resources {
			if i > 0 {
				fmt.Fprintln(w)
			}
			r.Resources[i].print(w, s, r.Workers)
		}
	} else {
		r.printTable(w, s)
		r.printLeftOut(w)
	}
	r.printChanges(w, s, b.c.String("compare"))
	return nil
}

// print prints all figures of one resource.
func (b *benchedResource) print(w io.Writer, s terminal.Style, workers int) {
	r := b.result
	fmt.Fprintf(w, "%s\n", printable.Line(b.URI))
	row := func(name, format string, args ...any) { s.Paragraph(w, "  "+name, 11, fmt.Sprintf(format, args...)) }
	at := func(percent float64) string { return latency(s, r.Latency(percent)) }
	row("fuel", "%s", b.Fuel.sentence())
	row("rate", "%s reads/s, %.1f MB/s; %s in %.1f s, %s", perSecond(b.PerSecond), b.Megabytes,
		readsOf(b.Reads), b.Seconds, atOnce(workers))
	row("a read", "%s, %s", terminal.Size(b.Bytes), terminal.Numbered(b.HostCalls, "host call", "host calls"))
	row("latency", "mean %s, min %s, max %s", latency(s, r.Mean), at(0), at(100))
	row("", "p50 %s, p90 %s, p99 %s, p99.9 %s", at(50), at(90), at(99), at(99.9))
	fmt.Fprintln(w)
	histogram(w, s, r)
}

func (f benchedFuel) sentence() string {
	if f.Min == f.Max {
		return terminal.Grouped(f.Median) + " for each read"
	}
	return fmt.Sprintf("min %s, median %s, max %s", terminal.Grouped(f.Min), terminal.Grouped(f.Median), terminal.Grouped(f.Max))
}

// cell returns the figures for a table.
func (f benchedFuel) cell(s terminal.Style) string {
	if f.Min == f.Max {
		return terminal.Grouped(f.Median)
	}
	return terminal.Grouped(f.Min) + s.Either("–", "-") + terminal.Grouped(f.Max) + " (" + terminal.Grouped(f.Median) + ")"
}

func readsOf(n int64) string {
	if n == 1 {
		return "1 read"
	}
	return terminal.Grouped(uint64(n)) + " reads"
}

func atOnce(workers int) string {
	if workers == 1 {
		return "one at a time"
	}
	return fmt.Sprintf("%d at once", workers)
}

// printTable prints a line for each resource.
func (b *benchReport) printTable(w io.Writer, s terminal.Style) {
	place := "in this process"
	if b.Isolation == runtime.IsolateProcess.String() {
		place = "in a worker process"
	}
	fmt.Fprintf(w, "%s: %s in %.1f s, %s, %s\n\n", printable.Line(b.Provider.title()),
		terminal.Numbered(len(b.Resources), "resource", "resources"), b.Seconds, atOnce(b.Workers), place)
	rows := [][]string{{"URI", "FUEL", "P50", "P99", "READS/S", "BYTES"}}
	for i := range b.Resources {
		one := &b.Resources[i]
		if one.Code != "" {
			continue
		}
		rows = append(rows, []string{
			printable.Line(one.URI), one.Fuel.cell(s), latency(s, one.result.Latency(50)), latency(s, one.result.Latency(99)),
			perSecond(one.PerSecond), terminal.Grouped(one.Bytes),
		})
	}
	if len(rows) > 1 {
		s.Figures(w, rows)
	}
}

// title returns the name with the version.
func (p benchedProvider) title() string {
	if p.Version == "" {
		return p.Name
	}
	return p.Name + " " + p.Version
}

// printLeftOut prints which resources have no figures, and why.
func (b *benchReport) printLeftOut(w io.Writer) {
	for i := range b.Resources {
		if one := &b.Resources[i]; one.Code != "" {
			fmt.Fprintf(w, "\nfailed: %s\n  %s\n", printable.Line(one.URI), withCode(one.Code, one.Problem))
		}
	}
	for _, u := range b.Unsampled {
		fmt.Fprintf(w, "\nnot read: %s\n  %s; name one of its resources with --uri\n", printable.Line(u.Template), printable.Line(u.Why))
	}
	if b.Omitted > 0 {
		fmt.Fprintf(w, "\n%s left out: name them with --uri, or increase --duration\n",
			terminal.Numbered(b.Omitted, "more is", "more are"))
	}
}

// withCode returns the message of a failure after its code.
func withCode(code, problem string) string {
	if problem == "" || problem == code {
		return code
	}
	return code + ": " + printable.Line(problem)
}

// printChanges prints the changes since an earlier run.
func (b *benchReport) printChanges(w io.Writer, s terminal.Style, file string) {
	if b.Compared == nil {
		return
	}
	module := "another module"
	if b.Compared.Digest == b.Provider.Digest {
		module = "the same module"
	}
	fmt.Fprintf(w, "\nsince %s: %s, %s\n\n", file, printable.Line(terminal.OneSpace(b.Compared.title())), module)
	rows := [][]string{{"URI", "FUEL THEN", "NOW", "CHANGE", "P50 THEN", "NOW", "CHANGE"}}
	for i := range b.Resources {
		one := &b.Resources[i]
		if c := one.Change; c != nil {
			rows = append(rows, []string{
				printable.Line(one.URI), terminal.Grouped(c.FuelBefore), terminal.Grouped(one.Fuel.Median), fuelChange(c.FuelPercent),
				latency(s, time.Duration(c.P50Before*1e3)), latency(s, one.result.Latency(50)), c.latency(),
			})
		}
	}
	if len(rows) > 1 {
		s.Figures(w, rows)
		fmt.Fprintln(w)
		s.Paragraph(w, "", 0, "Fuel is exact. Latency depends on the machine and its load; noise is a change of "+
			"no more than the distance from p50 to p75.")
	}
	if len(b.Gone) > 0 {
		fmt.Fprintln(w)
	}
	for _, uri := range b.Gone {
		fmt.Fprintf(w, "measured before, but not now: %s\n", printable.Line(uri))
	}
}

func fuelChange(percent float64) string {
	switch {
	case percent == 0:
		return "none"
	case math.Abs(percent) < 0.1:
		return fmt.Sprintf("%+.1g %%", percent)
	}
	return fmt.Sprintf("%+.1f %%", percent)
}

// latency returns the change of the median.
func (c *benchedChange) latency() string {
	if c.Noise {
		return "noise"
	}
	return fmt.Sprintf("%+.0f %%", c.LatencyChange)
}
