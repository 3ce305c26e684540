//go:build race

package meter_test

// underRace says that the race detector is on, which makes compiling a Go guest many times slower.
const underRace = true
