package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/runtime"
)

func benchCommand() *cli.Command {
	const category = "Measuring"
	return viewCommand(&cli.Command{
		Name: "bench", Usage: "measure how fast a resource is read", ArgsUsage: "PROVIDER.wasm",
		Description: `Answers resources/read over and over, sandbox, limits and encoding included, without a
transport. Fuel is what the last read used: the same on every machine.

   wasmres bench --uri greeting://World hello.wasm`,
		Flags: []cli.Flag{
			formatFlag(reportFormats),
			&cli.StringFlag{Name: "uri", Category: category, Usage: "read this `URI` (required)"},
			&cli.DurationFlag{Name: "duration", Category: category, Value: 5 * time.Second, Usage: "measure for this `TIME`"},
			&cli.IntFlag{Name: "workers", Category: category, Value: 1, Usage: "`READS` under way at once"},
		},
	}, benchRead, "PROVIDER.wasm")
}

func benchRead(c *cli.Context, a *app.App, _ []string) error {
	uri := c.String("uri")
	if uri == "" {
		return usagef(c, "--uri is missing: which resource is to be read?")
	}
	if c.Int("workers") < 1 || c.Duration("duration") <= 0 {
		return usagef(c, "--workers and --duration must be more than nothing")
	}
	result, err := bench.Run(c.Context, bench.Config{
		Duration: c.Duration("duration"),
		Workers:  c.Int("workers"),
		Call: func(ctx context.Context) (int, error) {
			text, err := a.Call(ctx, "resources/read", map[string]string{"uri": uri})
			return len(text), worded(err)
		},
	})
	if err != nil {
		return err
	}
	return printBench(c, uri, result, a.Usage())
}

// A benchReport is the result for machines. Latencies are in microseconds.
type benchReport struct {
	URI         string             `json:"uri"`
	Workers     int                `json:"workers"`
	Seconds     float64            `json:"seconds"`
	Requests    int64              `json:"requests"`
	PerSecond   float64            `json:"requestsPerSecond"`
	Megabytes   float64            `json:"megabytesPerSecond"`
	LatencyMean float64            `json:"latencyMeanMicros"`
	Latency     map[string]float64 `json:"latencyMicros"`
	PeakRSS     uint64             `json:"peakRSSBytes,omitempty"`
	Fuel        uint64             `json:"fuelPerRead"`
	HostCalls   int                `json:"hostCallsPerRead"`
}

func printBench(c *cli.Context, uri string, r *bench.Result, last runtime.Usage) error {
	report := benchReport{
		URI: uri, Workers: c.Int("workers"), Seconds: r.Elapsed.Seconds(), Requests: r.Requests, PerSecond: r.PerSecond(),
		Megabytes: r.MegabytesPerSecond(), LatencyMean: micros(r.Mean), Latency: map[string]float64{}, PeakRSS: peakRSS(),
		Fuel: last.Fuel, HostCalls: last.HostCalls,
	}
	for _, q := range r.Quantiles {
		report.Latency[quantileName(q.Percent)] = micros(q.Latency)
	}
	if format := c.String("output-format"); format != formatTable {
		text, err := json.Marshal(report)
		if err != nil {
			return err
		}
		return printData(c.App.Writer, format, text)
	}
	return report.print(c, r)
}

func (b *benchReport) print(c *cli.Context, r *bench.Result) error {
	fmt.Fprintf(c.App.Writer, "%d reads of %s in %.1f s by %d at once\n\n", b.Requests, plain(b.URI), b.Seconds, b.Workers)
	t := newTable(c.App.Writer)
	t.row("requests/s", fmt.Sprintf("%.0f", b.PerSecond))
	t.row("result MB/s", fmt.Sprintf("%.1f", b.Megabytes))
	t.row("latency mean", r.Mean.Round(100*time.Nanosecond).String())
	for _, q := range r.Quantiles {
		t.row("latency "+quantileName(q.Percent), q.Latency.Round(100*time.Nanosecond).String())
	}
	t.row("fuel a read", strconv.FormatUint(b.Fuel, 10))
	t.row("host calls a read", strconv.Itoa(b.HostCalls))
	if b.PeakRSS > 0 {
		t.row("peak RSS", humanSize(b.PeakRSS))
	}
	return t.flush()
}

func quantileName(percent float64) string {
	switch percent {
	case 0:
		return "min"
	case 100:
		return "max"
	}
	return "p" + strings.TrimSuffix(fmt.Sprintf("%g", percent), ".0")
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
