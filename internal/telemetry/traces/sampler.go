package traces

import (
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/wasmres/wasmres/internal/tokenbucket"
)

// Bounds on requests that are traced because their clients say so.
const (
	wishedPerSecond = 100
	wishedBurst     = 200
)

// A sampler decides which requests are traced.
type sampler struct {
	share  sdktrace.Sampler // of requests without a trace
	began  time.Time
	rate   tokenbucket.Rate
	wished tokenbucket.Bucket
}

func newSampler(share float64) *sampler {
	return &sampler{
		share: sdktrace.TraceIDRatioBased(share), began: time.Now(), rate: tokenbucket.New(wishedPerSecond, wishedBurst),
	}
}

// ShouldSample implements [sdktrace.Sampler].
func (s *sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent := oteltrace.SpanContextFromContext(p.ParentContext)
	result := sdktrace.SamplingResult{Decision: sdktrace.Drop, Tracestate: parent.TraceState()}
	switch {
	case !parent.IsValid():
		return s.share.ShouldSample(p)
	case !parent.IsRemote():
		if parent.IsSampled() { // a span within a traced request
			result.Decision = sdktrace.RecordAndSample
		}
	case parent.IsSampled():
		if _, ok := s.wished.Take(int64(time.Since(s.began)), 1, s.rate); !ok {
			return s.share.ShouldSample(p)
		}
		result.Decision = sdktrace.RecordAndSample
	}
	return result
}

// Description implements [sdktrace.Sampler].
func (s *sampler) Description() string { return "as the client says, else " + s.share.Description() }
