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
