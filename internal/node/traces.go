package node

import (
	"fmt"

	"github.com/wasmres/wasmres/internal/telemetry"
	"github.com/wasmres/wasmres/internal/telemetry/collector"
	"github.com/wasmres/wasmres/internal/telemetry/traces"
	"github.com/wasmres/wasmres/internal/tenant"
	"github.com/wasmres/wasmres/runtime/trace"
)

// openTraces begins to send traces; nil for a server that sends none.
func openTraces(s *tenant.Traces, cfg Config) (*traces.Traces, error) {
	if s.Endpoint == "" {
		return nil, nil
	}
	to := collector.Config{Endpoint: s.Endpoint, Sample: s.Sample}
	if s.Headers != "" {
		var err error
		if to.Headers, err = collector.ReadHeaders(s.Headers); err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
	}
	return traces.New(traces.Config{Collector: to, Version: cfg.Version, Logger: cfg.Logger})
}

// tracer returns what traces the requests of a tenant; nil for nothing.
func (n *Node) tracer() func(tenantID string) trace.Tracer {
	if n.traces == nil {
		return nil
	}
	return n.traces.Tracer
}

// closeTraces sends what waits.
func (n *Node) closeTraces() {
	if n.traces == nil {
		return
	}
	if err := n.traces.Close(); err != nil {
		n.cfg.Logger.Warn("traces lost", "err", err)
	}
}

// spans is what became of spans until now, for metrics.
func (n *Node) spans() telemetry.Spans {
	if n.traces == nil {
		return telemetry.Spans{}
	}
	c := n.traces.Counts()
	return telemetry.Spans{Sent: c.Sent, Dropped: c.Dropped, Failed: c.Failed}
}
