package inspect

import (
	"context"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/cli"
	"github.com/wasmres/wasmres/cmd/wasmres/internal/providers"
	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
)

const (
	maxSampled     = 10               // resources to read
	maxSamplesTime = 10 * time.Second // for all of them
)

// samples are resources that were read, with the fuel and bytes of each.
type samples struct {
	Read      []sampled         `json:"read"`
	Omitted   int               `json:"omitted"`   // resources and templates beyond the number or the time
	Unsampled []check.Unsampled `json:"unsampled"` // templates without a known resource
	Problem   string            `json:"problem,omitempty"`
}

// A sampled is a resource that was read once.
type sampled struct {
	URI       string `json:"uri"`
	Template  string `json:"uriTemplate,omitempty"`
	Code      string `json:"code,omitempty"` // of the failure
	Problem   string `json:"problem,omitempty"`
	Fuel      uint64 `json:"fuel"`
	HostCalls int    `json:"hostCalls"`
	Bytes     uint64 `json:"bytes"` // of contents
}

// readSamples reads some resources within maxSamplesTime, and records failures.
func readSamples(ctx context.Context, a *app.App) *samples {
	found := &samples{Read: []sampled{}, Unsampled: []check.Unsampled{}}
	until := time.Now().Add(maxSamplesTime)
	chosen, err := providers.Samples(ctx, a, maxSampled, maxSamplesTime)
	if err != nil {
		found.Problem = cli.ProblemOf(err)
		return found
	}
	found.Omitted, found.Unsampled = chosen.Omitted, append(found.Unsampled, chosen.Unsampled...)
	for i, s := range chosen.Samples {
		if ctx.Err() != nil || time.Now().After(until) {
			found.Omitted += len(chosen.Samples) - i
			break
		}
		found.Read = append(found.Read, readSample(ctx, a, s))
	}
	return found
}

func readSample(ctx context.Context, a *app.App, s check.Sample) sampled {
	one := sampled{URI: s.URI, Template: s.Template}
	if err := a.Provider().Stream(ctx, s.URI, discard{}); err != nil {
		one.Code, one.Problem = abi.CodeOf(err).String(), cli.ProblemOf(cli.WithMessage(err))
	}
	used := a.Usage()
	one.Fuel, one.HostCalls, one.Bytes = used.Fuel, used.HostCalls, used.Bytes
	return one
}

// discard is a sink that stores nothing.
type discard struct{}

// Content implements [abi.Sink].
func (discard) Content(*abi.Content) error { return nil }

// Body implements [abi.Sink].
func (discard) Body([]byte) error { return nil }

// Progress implements [abi.Sink].
func (discard) Progress(abi.Progress) {}
