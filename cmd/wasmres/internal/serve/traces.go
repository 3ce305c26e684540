package serve

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/telemetry/collector"
	"github.com/wasmres/wasmres/internal/telemetry/traces"
	"github.com/wasmres/wasmres/runtime"
)

const traceCategory = "Traces"

func traceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "trace-endpoint", Category: traceCategory, Usage: "send traces of requests to the collector of OpenTelemetry at this `URL`, by OTLP over HTTP, as http://127.0.0.1:4318; default: what OTEL_EXPORTER_OTLP_ENDPOINT says; none for no traces"},
		&cli.StringFlag{Name: "trace-headers", Category: traceCategory, Usage: "send the collector the headers in this `FILE`, one on each line as \"Authorization: Bearer TEXT\""},
		&cli.StringFlag{Name: "trace-sample", Category: traceCategory, Value: "100%", Usage: "trace this `SHARE` of the requests whose clients have no trace, as 10%"},
	}
}

// traceNone turns traces off.
const traceNone = "none"

// openTraces has requests traced as the flags say, or the environment. The caller calls end after the server.
func openTraces(c *cli.Context, o *runtime.ServerOptions, logger *slog.Logger) (end func(), err error) {
	to, err := traceConfig(c)
	if err != nil || to.Endpoint == "" {
		return func() {}, err
	}
	t, err := traces.New(traces.Config{Collector: to, Version: c.App.Version, Logger: logger})
	if err != nil {
		return nil, err
	}
	o.Tracer = t.Tracer("")
	logger.Info("traces are sent", "endpoint", to.Endpoint)
	return func() {
		err := t.Close()
		if n := t.Counts(); err != nil || n.Dropped+n.Failed > 0 {
			logger.Warn("spans of traces lost", "sent", n.Sent, "dropped", n.Dropped, "failed", n.Failed, "err", err)
		}
	}, nil
}

// traceConfig reads the flags and the environment. The endpoint is empty for no traces.
func traceConfig(c *cli.Context) (to collector.Config, err error) {
	if to, err = collector.FromEnvironment(os.Getenv); err != nil && !c.IsSet("trace-endpoint") {
		return to, fmt.Errorf("%w; --trace-endpoint none sends no traces", err)
	}
	if given := c.String("trace-endpoint"); given == traceNone {
		to.Endpoint = ""
	} else if given != "" {
		if to.Endpoint, err = collector.EndpointURL(given); err != nil {
			return to, cli.Usagef(c, "--trace-endpoint: %w", err)
		}
	}
	if to.Endpoint == "" && (c.IsSet("trace-headers") || c.IsSet("trace-sample")) {
		return to, cli.Usagef(c, "--trace-endpoint is missing: it says where traces go")
	}
	if c.IsSet("trace-sample") {
		if to.Sample, err = collector.ParseShare(c.String("trace-sample")); err != nil {
			return to, cli.Usagef(c, "--trace-sample: %w", err)
		}
	}
	if file := c.String("trace-headers"); file != "" {
		to.Headers, err = collector.ReadHeaders(file)
	}
	return to, err
}
