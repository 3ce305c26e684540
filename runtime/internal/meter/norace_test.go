//go:build !race

package meter_test

// underRace says that the race detector is on.
const underRace = false
