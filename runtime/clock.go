package runtime

import (
	"time"

	"github.com/wasmres/wasmres/runtime/internal/guest"
)

// A Clock gives a provider the same time and random numbers in every run, for tests.
type Clock struct {
	Time time.Time // of the first look at a clock in each call, from 1971 to 2199; each look takes ClockStep
	Seed uint64    // of the random numbers
}

// ClockStep is the time that passes with each reading of a [Clock].
const ClockStep = time.Microsecond

func (c *Clock) determinism() *guest.Clock { return (*guest.Clock)(c) }

// Check returns an error for a time that clocks cannot show.
func (c *Clock) Check() error { return c.determinism().Check() }
