// Package benchtest has results of measuring that tests can rely on.
//
// Only tests import it.
package benchtest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmres/wasmres/internal/bench"
)

// Measured is the result of requests that took so long, one after the other, in the time of a bubble.
func Measured(t *testing.T, took ...time.Duration) (r *bench.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		next := 0
		var err error
		r, err = bench.Run(ctx, bench.Config{Duration: time.Hour, Call: func(context.Context) (bench.Cost, error) {
			time.Sleep(took[next])
			if next++; next == len(took) {
				cancel()
			}
			return bench.Cost{}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	})
	return r
}
