package guest

import (
	"fmt"
	"time"
)

// A Clock shows guests a time and random numbers that are the same in every run, in place of the real ones. The limits of
// the host follow the real clock.
//
// A call begins at Time, and each look at a clock advances all clocks by [ClockStep]. Sleeping takes no time and advances
// the clocks by as much; beyond Limits.Timeout it ends the call with [abi.CodeDeadline]. Random numbers follow from Seed
// and the request. An instance starts an hour before Time. One that is kept from call to call goes on from where it
// was, with other random numbers each time.
type Clock struct {
	Time time.Time `json:"time"` // from 1971 to 2199
	Seed uint64    `json:"seed"`
}

// ClockStep is the time that passes with each look at a [Clock]: enough for a guest that waits for a clock to move, and
// too little to be seen in most answers.
const ClockStep = time.Microsecond

// Check refuses a time that clocks cannot show.
func (d *Clock) Check() error {
	if year := d.Time.UTC().Year(); year < 1971 || year > 2199 {
		return fmt.Errorf("time %s: it must be from 1971 to 2199", d.Time.Format(time.RFC3339))
	}
	return nil
}
