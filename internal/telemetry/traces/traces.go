package traces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wasmres/wasmres/internal/telemetry/collector"
	"github.com/wasmres/wasmres/internal/throttle"
)

const (
	maxQueue      = 2048 // spans that wait, or are being sent
	maxBatch      = 512
	batchTime     = 2 * time.Second  // for which a span waits for others
	postTime      = 10 * time.Second // for one answer of the collector
	sendTime      = 20 * time.Second // for a batch, with what is tried again
	defaultFlush  = 3 * time.Second
	maxAnswer     = 64 << 10 // bytes of an answer of the collector
	maxAttributes = 16
	maxValue      = 256 // bytes
)

// Config says where traces go. Collector is required.
type Config struct {
	Collector collector.Config
	Version   string        // of the program
	Flush     time.Duration // for which Close sends what waits; 0 means 3 s
	Logger    *slog.Logger  // nil discards
}

// Traces sends traces. It is safe for concurrent use. The caller closes it.
type Traces struct {
	// fixed at creation
	log      *throttle.Log
	provider *sdktrace.TracerProvider
	ctx      context.Context // ends when Close gives up
	cancel   context.CancelFunc
	exporter sdktrace.SpanExporter
	flush    time.Duration // see Config

	waiting                 atomic.Int64 // spans in the queue, and those that are being sent
	sent, dropped, rejected atomic.Uint64

	close func() error // works once
}

// Counts are how many spans had each fate.
type Counts struct {
	Sent    uint64 // the collector has taken them
	Dropped uint64 // there was no room for them
	Failed  uint64 // the collector did not take them
}

// New begins to send traces. It does not wait for the collector.
func New(c Config) (*Traces, error) {
	if err := c.Collector.Check(); err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	endpoint, _ := collector.EndpointURL(c.Collector.Endpoint)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Traces{log: throttle.New(c.Logger), flush: cmp.Or(c.Flush, defaultFlush)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithTimeout(postTime), otlptracehttp.WithMaxResponseSize(maxAnswer),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: sendTime,
		}),
	}
	if c.Collector.Headers != nil {
		options = append(options, otlptracehttp.WithHeaders(c.Collector.Headers))
	}
	var err error
	if t.exporter, err = otlptracehttp.New(t.ctx, options...); err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	t.provider = t.newProvider(c)
	t.close = sync.OnceValue(t.end)
	return t, nil
}

func (t *Traces) newProvider(c Config) *sdktrace.TracerProvider {
	is, _ := resource.New(t.ctx, // after an error it has the attributes that were found
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "wasmres"), attribute.String("service.version", c.Version)),
		resource.WithFromEnv(), // the operator may name the service
	)
	queue := sdktrace.NewBatchSpanProcessor(sender{t},
		sdktrace.WithMaxQueueSize(maxQueue), sdktrace.WithMaxExportBatchSize(maxBatch),
		sdktrace.WithBatchTimeout(batchTime), sdktrace.WithExportTimeout(sendTime),
	)
	return sdktrace.NewTracerProvider(
		sdktrace.WithResource(is), sdktrace.WithSampler(newSampler(c.Collector.Sample)), sdktrace.WithSpanProcessor(bounded{queue, t}),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: maxValue, AttributeCountLimit: maxAttributes,
		}),
	)
}

// Counts returns how many spans had each fate until now.
func (t *Traces) Counts() Counts {
	return Counts{Sent: t.sent.Load(), Dropped: t.dropped.Load(), Failed: t.rejected.Load()}
}

// Close sends what waits, for at most as long as the Config says. Spans that end later are dropped. It is idempotent.
func (t *Traces) Close() error { return t.close() }

func (t *Traces) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), t.flush)
	defer cancel()
	stop := context.AfterFunc(ctx, t.cancel) // batches under way fail, and those that follow
	err := t.provider.Shutdown(ctx)
	stop()
	t.cancel()
	t.log.Close()
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the collector of traces has not taken the last %d spans within %v", t.waiting.Load(), t.flush)
	}
	return err
}

// A bounded processor passes spans on as long as there is room.
type bounded struct {
	sdktrace.SpanProcessor
	traces *Traces
}

// OnEnd implements [sdktrace.SpanProcessor].
func (b bounded) OnEnd(s sdktrace.ReadOnlySpan) {
	if b.traces.waiting.Add(1) > maxQueue || b.traces.ctx.Err() != nil {
		b.traces.waiting.Add(-1)
		b.traces.dropped.Add(1)
		b.traces.log.Warn("dropped", "spans of traces dropped: the collector is too slow, or away")
		return
	}
	b.SpanProcessor.OnEnd(s)
}

// A sender sends batches, and counts what became of them.
type sender struct{ *Traces }

// ExportSpans implements [sdktrace.SpanExporter].
func (s sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(s.ctx, cancel)()
	defer cancel()
	err := s.exporter.ExportSpans(ctx, spans)
	s.waiting.Add(-int64(len(spans)))
	if err != nil {
		s.rejected.Add(uint64(len(spans)))
		s.log.Warn("send", "traces not sent", "spans", len(spans), "err", err)
		return nil // it is told, and the SDK would write it to standard error
	}
	s.sent.Add(uint64(len(spans)))
	return nil
}

// Shutdown implements [sdktrace.SpanExporter].
func (s sender) Shutdown(ctx context.Context) error { return s.exporter.Shutdown(ctx) }
