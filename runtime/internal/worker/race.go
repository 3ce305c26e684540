//go:build race

package worker

// slowdown stretches what is bounded by the clock: the race detector takes that much more of it.
const slowdown = 10
