package providers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wasmres/wasmres/internal/app"
	"github.com/wasmres/wasmres/internal/check"
)

// Samples chooses resources to read, as many as most: static ones, listed ones and completed templates. It returns an
// error if the provider takes longer than within to list and complete them.
func Samples(ctx context.Context, a *app.App, most int, within time.Duration) (*check.Selection, error) {
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	chosen, err := check.Select(timed, a.Provider().Source(), a.Provider().Manifest(), most)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, fmt.Errorf("the provider took longer than %v to list and complete its resources", within.Round(time.Millisecond))
	}
	return chosen, err
}

// CapabilityRow returns the two cells that show a capability that a provider requests.
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
