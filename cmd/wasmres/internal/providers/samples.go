package providers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
)

// Samples gives resources of the provider that are worth a read, if it lists and completes them in time.
func Samples(ctx context.Context, a *app.App, most int, within time.Duration) (*check.Selection, error) {
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	chosen, err := check.Select(timed, a.Provider().Source(), a.Provider().Manifest(), most)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("the provider takes longer than %v to say what there is", within.Round(time.Millisecond))
	}
	return chosen, err
}

// CapabilityRow gives the two cells that show a person a capability that a provider asks for.
func CapabilityRow(name, reason string, optional bool) (need, text string) {
	need, text = "needs", name
	if optional {
		need = "can use"
	}
	if reason != "" {
		text += ": " + reason
	}
	return need, text
}
