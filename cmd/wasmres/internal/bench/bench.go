package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/terminal"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/internal/check"
)

// Command returns the command bench.
func Command() *cli.Command {
	const category = "Measuring"
	return providers.WithQuietLog(providers.NewCommand(&cli.Command{
		Name: "bench", Usage: "measure how fast resources are read, and with how much fuel", ArgsUsage: providers.ArgUsage,
		Description: `Answers resources/read again and again, including sandbox, limits and encoding, but without a
transport. Fuel counts the work of the provider. It is the same on every machine, so compare
versions by it. Reads may have effects: the provider decides.

Without --uri it reads the static resources and one of each template.

   wasmres bench provider.wasm
   wasmres bench --uri greeting://World hello.wasm
   wasmres bench --output-format json provider.wasm > before.json
   wasmres bench --compare before.json --max-fuel-growth 5 provider.wasm`,
		Flags: []cli.Flag{
			cli.FormatFlag(cli.ReportFormats),
			&cli.StringSliceFlag{
				Name: "uri", Category: category, Usage: "read this `URI`, and draw a histogram; may be repeated",
			},
			&cli.DurationFlag{
				Name: "duration", Category: category, Value: 5 * time.Second, Usage: "measure for this `TIME`, for all resources together",
			},
			&cli.IntFlag{Name: "workers", Category: category, Value: 1, Usage: "number of `READS` at once"},
			&cli.StringFlag{
				Name: "compare", Category: category, Usage: "print what has changed since an earlier run, whose json is in `FILE`",
			},
			&cli.Float64Flag{
				Name: "max-fuel-growth", Category: category, DefaultText: "no limit",
				Usage: "with --compare, fail if the fuel of a read has grown by more than `PERCENT`",
			},
		},
	}, benchProvider))
}

func benchProvider(c *cli.Context, a *app.App, _ []string) error {
	if err := checkBenchFlags(c); err != nil {
		return err
	}
	before, err := readBefore(c)
	if err != nil {
		return err
	}
	b := &benchRun{c: c, app: a, until: time.Now().Add(c.Duration("duration"))}
	report, err := b.measure()
	if err != nil {
		return err
	}
	report.compare(before, b.named())
	denied := func(r benchedResource) bool { return r.Code == abi.CodeDenied.String() }
	if slices.ContainsFunc(report.Resources, denied) {
		a.WarnMissingGrants()
	}
	if err := b.print(report); err != nil {
		return err
	}
	return report.verdict(c)
}

func checkBenchFlags(c *cli.Context) error {
	switch {
	case c.Int("workers") < 1 || c.Duration("duration") <= 0:
		return cli.Usagef(c, "--workers and --duration must be more than 0")
	case c.IsSet("max-fuel-growth") && c.String("compare") == "":
		return cli.Usagef(c, "--max-fuel-growth: set --compare to the earlier run")
	case c.IsSet("max-fuel-growth") && !(c.Float64("max-fuel-growth") >= 0):
		return cli.Usagef(c, "--max-fuel-growth %v: it must be 0 or more", c.Float64("max-fuel-growth"))
	}
	for _, uri := range c.StringSlice("uri") {
		if err := abi.CheckURI(uri); err != nil {
			return cli.Usagef(c, "--uri: %w", err)
		}
	}
	return nil
}

const (
	maxBenched    = 20          // resources to measure without --uri
	minChooseTime = time.Second // for the provider to list its resources, however short the run
)

// A benchRun measures one resource after the other, until its time has passed. It measures each named resource by at least
// one read.
type benchRun struct {
	c     *cli.Context
	app   *app.App
	until time.Time
}

func (b *benchRun) measure() (*benchReport, error) {
	began := time.Now()
	chosen, err := b.choose()
	if err != nil {
		return nil, err
	}
	report := newBenchReport(b.c, b.app, chosen)
	progress := terminal.NewProgress(b.c.App.ErrWriter)
	defer progress.Clear()
	for i, s := range chosen.Samples {
		left := time.Until(b.until)
		if left <= 0 && i > 0 && !b.named() {
			report.Omitted += len(chosen.Samples) - i
			break
		}
		progress.Show("measuring %d of %d: %s", i+1, len(chosen.Samples), s.URI)
		result, err := bench.Run(b.c.Context, b.config(s.URI, left/time.Duration(len(chosen.Samples)-i)))
		switch {
		case b.c.Context.Err() != nil:
			return nil, b.c.Context.Err()
		case err != nil && b.named():
			return nil, fmt.Errorf("%s: %w", s.URI, err)
		}
		report.add(s, result, err)
	}
	report.Seconds, report.PeakRSS = time.Since(began).Seconds(), peakRSS()
	return report, nil
}

// named reports whether --uri names the resources.
func (b *benchRun) named() bool { return b.c.IsSet("uri") }

func (b *benchRun) choose() (*check.Selection, error) {
	if !b.named() {
		return providers.Samples(b.c.Context, b.app, maxBenched, max(time.Until(b.until), minChooseTime))
	}
	chosen := &check.Selection{}
	for _, uri := range b.c.StringSlice("uri") {
		chosen.Samples = append(chosen.Samples, check.Sample{URI: uri})
	}
	return chosen, nil
}

// config measures a resource for a duration, a tenth of which is to warm up. The cost of a read is the provider's last
// usage: with several workers that may be the usage of another read of the same resource.
func (b *benchRun) config(uri string, duration time.Duration) bench.Config {
	warmUp := max(duration/10, 1)
	return bench.Config{
		Duration: max(duration-warmUp, 1), WarmUp: warmUp, Workers: b.c.Int("workers"),
		Call: func(ctx context.Context) (bench.Cost, error) {
			_, err := b.app.Call(ctx, "resources/read", map[string]string{"uri": uri})
			used := b.app.Usage()
			return bench.Cost{Bytes: used.Bytes, Fuel: used.Fuel, HostCalls: used.HostCalls}, cli.WithMessage(err)
		},
	}
}
