package terminal

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wasmres/wasmres/internal/textwidth"
)

// Numbered returns a number with the singular or plural of what it counts, as in "1 read" or "2 reads".
func Numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}

// Counted returns a number of things, whose plural ends in s, as in "no errors" or "2 errors".
func Counted(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing + "s"
	case 1:
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Grouped returns a number with a comma between each three digits.
func Grouped(n uint64) string {
	digits := []byte(fmt.Sprint(n))
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = slices.Insert(digits, at, ',')
	}
	return string(digits)
}

// Size returns a number of bytes in the largest fitting unit, as in "1.5 MiB".
func Size(n uint64) string {
	const step = 1024
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/step, 0
	for value >= step && unit < 3 {
		value, unit = value/step, unit+1
	}
	return fmt.Sprintf("%.1f %s", value, []string{"KiB", "MiB", "GiB", "TiB"}[unit])
}

// Clip shortens a text to width columns, the last of which is then an ellipsis.
func Clip(s string, width int) string { return textwidth.Clip(s, width, "…") }
