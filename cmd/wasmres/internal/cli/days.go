package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// longest bounds what [ParseDays] accepts.
const longest = 100 * 366 * 24 * time.Hour

// ParseDays parses a time from a second to a hundred years: days, as in 90d, or a duration of Go, as in 12h.
func ParseDays(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d < time.Second || d > longest {
		return 0, fmt.Errorf("%q is not a time: write it like 90d or 12h", s)
	}
	return d, nil
}
