package provider_test

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/guest"

	"github.com/wasmres/wasmres/runtime/internal/provider"
)

func TestWhatStartingTakesIsTheSameEverywhere(t *testing.T) {
	var fuel []uint64
	both(t, func(t *testing.T, run guest.Runner) {
		for range 2 {
			started := load(t, provider.Config{Runner: run}, "faults.wasm").Info().Start
			if started.Took <= 0 {
				t.Errorf("it took %v", started.Took)
			}
			fuel = append(fuel, started.Fuel)
		}
	})
	for _, n := range fuel {
		if n == 0 || n != fuel[0] {
			t.Errorf("got %d units of fuel", fuel)
		}
	}
}
