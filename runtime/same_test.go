package runtime

import (
	"testing"

	"github.com/wasmres/wasmres/runtime/internal/guest"
	"github.com/wasmres/wasmres/runtime/internal/inflight"
)

// The documentation of the package shows constants as literals. They are those of the packages below.
func TestConstantsAreThoseOfTheMachinery(t *testing.T) {
	if ClockStep != guest.ClockStep || MinBuffer != inflight.Min {
		t.Errorf("got %v and %d, want %v and %d", ClockStep, MinBuffer, guest.ClockStep, inflight.Min)
	}
	for mode, want := range map[ResetMode]guest.ResetMode{
		ResetInPlace: guest.ResetInPlace, ResetOrReplace: guest.ResetOrReplace, StartFresh: guest.StartFresh,
	} {
		if string(mode) != string(want) {
			t.Errorf("got %s, want %s", mode, want)
		}
	}
}
