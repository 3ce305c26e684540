package bench

import (
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/bench"
	"github.com/wasmres/wasmres/internal/check"
)

// A benchReport has what was measured. Its JSON is stable: later versions add fields only.
type benchReport struct {
	Provider  benchedProvider   `json:"provider"`
	Isolation string            `json:"isolation"`
	Workers   int               `json:"workers"`
	Seconds   float64           `json:"seconds"` // of the whole run
	Resources []benchedResource `json:"resources"`
	Omitted   int               `json:"omitted"`            // resources and templates beyond the number or the time
	Unsampled []check.Unsampled `json:"unsampled"`          // templates without a known resource
	Compared  *benchedProvider  `json:"compared,omitempty"` // of the earlier run
	Gone      []string          `json:"gone,omitempty"`     // URIs measured then, but not now
	PeakRSS   uint64            `json:"peakRSSBytes,omitempty"`
}

type benchedProvider struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest"`
}

// A benchedResource has the figures of a resource, or the failure of reading it.
type benchedResource struct {
	URI       string          `json:"uri"`
	Template  string          `json:"uriTemplate,omitempty"`
	Code      string          `json:"code,omitempty"` // of the failure, as abi.Code names it
	Problem   string          `json:"problem,omitempty"`
	Reads     int64           `json:"reads"`
	Seconds   float64         `json:"seconds"`
	PerSecond float64         `json:"readsPerSecond"`
	Megabytes float64         `json:"megabytesPerSecond"` // of contents
	Bytes     uint64          `json:"bytesPerRead"`       // mean, of contents
	HostCalls int             `json:"hostCallsPerRead"`   // at most
	Fuel      benchedFuel     `json:"fuelPerRead"`
	Latency   benchedLatency  `json:"latencyMicros"`
	Histogram []benchedBucket `json:"latencyHistogram"`
	Change    *benchedChange  `json:"change,omitempty"`

	result *bench.Result // nil after a failure
}

type benchedFuel struct {
	Min    uint64 `json:"min"`
	Median uint64 `json:"median"`
	Max    uint64 `json:"max"`
}

type benchedLatency struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P75  float64 `json:"p75"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
	Max  float64 `json:"max"`
}

// A benchedBucket counts the reads that took at least From and less than To.
type benchedBucket struct {
	From  float64 `json:"fromMicros"`
	To    float64 `json:"toMicros"`
	Reads int64   `json:"reads"`
}

func newBenchReport(c *cli.Context, a *app.App, chosen *check.Selection) *benchReport {
	m, info := a.Provider().Manifest(), a.Provider().Info()
	return &benchReport{
		Provider:  benchedProvider{m.Name, m.Version, info.Digest},
		Isolation: info.Isolation.String(), Workers: c.Int("workers"), Resources: []benchedResource{},
		Omitted: chosen.Omitted, Unsampled: append([]check.Unsampled{}, chosen.Unsampled...),
	}
}

// add adds the result of measuring a resource, or the failure.
func (b *benchReport) add(s check.Sample, r *bench.Result, err error) {
	found := benchedResource{URI: s.URI, Template: s.Template, Histogram: []benchedBucket{}}
	if err != nil {
		found.Code, found.Problem = abi.CodeOf(err).String(), cli.ProblemOf(err)
		b.Resources = append(b.Resources, found)
		return
	}
	found.result = r
	found.Reads, found.Seconds, found.PerSecond = r.Requests, r.Elapsed.Seconds(), r.PerSecond()
	found.Megabytes, found.Bytes, found.HostCalls = r.MegabytesPerSecond(), r.Bytes/uint64(max(r.Requests, 1)), r.HostCalls
	found.Fuel = benchedFuel(r.Fuel)
	found.Latency = benchedLatency{
		Mean: micros(r.Mean), Min: micros(r.Latency(0)), P50: micros(r.Latency(50)), P75: micros(r.Latency(75)),
		P90: micros(r.Latency(90)), P99: micros(r.Latency(99)), P999: micros(r.Latency(99.9)), Max: micros(r.Latency(100)),
	}
	for _, bucket := range r.Buckets(0) {
		found.Histogram = append(found.Histogram, benchedBucket{micros(bucket.From), micros(bucket.To), bucket.Requests})
	}
	b.Resources = append(b.Resources, found)
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
