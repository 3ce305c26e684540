package guest

import (
	"fmt"
	"time"
)

// Determinism has guests see a time and random numbers that are the same in every run, in place of the real ones. The
// host's own limits still go by the real clock.
//
// A call finds the clocks at Time, and each look at one takes them on by [Look]. Sleeping takes no time, but takes the
// clocks on by as much; past Limits.Timeout it ends the call with [abi.CodeDeadline]. Random numbers follow from Seed
// and the request. An instance starts an hour before Time. One that is kept from call to call goes on from where it
// was, with other random numbers each time.
type Determinism struct {
	Time time.Time `json:"time"` // from 1971 to 2199
	Seed uint64    `json:"seed"`
}

// Look is what a look at a clock takes, under [Determinism]: enough for who waits for a clock to move, and too little to
// be seen in most answers.
const Look = time.Microsecond

// Check refuses a time that clocks cannot show.
func (d *Determinism) Check() error {
	if year := d.Time.UTC().Year(); year < 1971 || year > 2199 {
		return fmt.Errorf("time %s: it must be from 1971 to 2199", d.Time.Format(time.RFC3339))
	}
	return nil
}
