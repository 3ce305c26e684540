package quota

import "time"

const (
	// drift is by how much the clock of the system may run ahead of the monotonic one, or behind it, without having been set.
	drift = time.Minute
	// longestDay bounds a day whose clock is set back again and again, so that no budget stays used up for longer.
	longestDay = 24*time.Hour + drift
)

// A calendar has the days in UTC of a clock that may be set. Budgets go by its days: one ends at midnight, and not because the clock was
// set. A day whose clock is set goes on by another name, until the midnight of that clock. So does the day on which a machine was
// suspended, if the monotonic clock stood still meanwhile, as on Linux: a calendar cannot tell both apart. It is not safe for concurrent use.
type calendar struct {
	// fixed at creation
	clock func() time.Time // of the system
	began time.Time        // the monotonic clock is the time since then

	name       string // of the present day, as 2026-11-23
	since, end int64  // of the present day, on the monotonic clock
}

// A turn is what a calendar has noticed.
type turn int

const (
	sameDay turn = iota
	nextDay
	renamedDay // the clock was set to another day
)

func newCalendar(clock func() time.Time) *calendar {
	c := &calendar{clock: clock, began: time.Now()}
	c.name = c.nameNow()
	c.end = c.midnight()
	return c
}

// now is the monotonic clock, in nanoseconds.
func (c *calendar) now() int64 { return int64(time.Since(c.began)) }

func (c *calendar) nameNow() string { return c.clock().UTC().Format(time.DateOnly) }

// midnight is when the day of the clock ends, on the monotonic clock, or the present day has become too long.
func (c *calendar) midnight() int64 {
	t := c.clock().UTC().Round(0) // without its monotonic clock
	left := time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC).Sub(t)
	return min(c.now()+int64(left), c.since+int64(longestDay))
}

// look brings the calendar up to date.
func (c *calendar) look() turn {
	now, name := c.now(), c.nameNow()
	switch {
	case name != c.name && now >= c.end-int64(drift), now >= c.since+int64(longestDay):
		c.name, c.since = name, now
		c.end = c.midnight()
		return nextDay
	case name != c.name:
		c.name, c.end = name, c.midnight()
		return renamedDay
	}
	if end := c.midnight(); now >= c.end || time.Duration(end-c.end).Abs() > drift {
		c.end = end
	}
	return sameDay
}
