package guest

import (
	"fmt"
	"time"
)

// A Clock gives guests a time and random numbers that are the same in every run, in place of the real ones. The limits
// of the host use the real clock.
//
// A call begins at Time, and each reading of a clock advances all clocks by [ClockStep]. Sleeping takes no time and
// advances the clocks; beyond Limits.Timeout it ends the call with [abi.CodeDeadline]. Random numbers depend on Seed
// and the request. An instance starts an hour before Time. The clock of an instance that outlives a call continues,
// with other random numbers in each call.
type Clock struct {
	Time time.Time `json:"time"` // from 1971 to 2199
	Seed uint64    `json:"seed"`
}

// ClockStep is the time that passes with each reading of a [Clock]: enough for a guest that waits until a clock
// changes, and too little to show in most answers.
const ClockStep = time.Microsecond

// Check returns an error for a time that clocks cannot show.
func (d *Clock) Check() error {
	if year := d.Time.UTC().Year(); year < 1971 || year > 2199 {
		return fmt.Errorf("time %s: it must be from 1971 to 2199", d.Time.Format(time.RFC3339))
	}
	return nil
}

// An Origin is where the time and the random numbers of one call begin, in place of those of the [Clock] of its guest. The
// zero Origin is that of the Clock. It has no effect on guests without a Clock.
type Origin struct {
	Time time.Time // of the first look at a clock; an instance that has seen a later time keeps it
	Seed uint64    // of the random numbers
	// Stop ends the call with [abi.CodeDeadline] where a recorded call ended at its deadline. Nil ends it at the deadline.
	Stop *Point
	// Patient gives the call more time than Limits.Timeout, as for one that ended within it on a faster machine.
	Patient bool
}

// IsZero reports whether o is the origin of the Clock.
func (o Origin) IsZero() bool { return o.Time.IsZero() && o.Stop == nil && !o.Patient }

// A Point is one of the run of a guest: where it has used so much.
type Point struct {
	Fuel      uint64
	HostCalls int
}

// patience is the time limit of a patient call, if Limits.Timeout is less.
const patience = time.Minute

// Origin returns where the call begins.
func (c *Call) Origin() Origin { return c.origin }

// SetOrigin sets where the call begins. It is called before the call begins.
func (c *Call) SetOrigin(o Origin) { c.origin = o }

// Timeout returns the time limit of the call.
func (c *Call) Timeout() time.Duration {
	if c.origin.Patient {
		return max(patience, c.host.Limits.Timeout)
	}
	return c.host.Limits.Timeout
}
