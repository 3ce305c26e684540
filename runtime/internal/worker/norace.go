//go:build !race

package worker

// slowdown stretches what is bounded by the clock.
const slowdown = 1
