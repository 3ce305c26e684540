//go:build !race

package worker

// slowdown multiplies time limits.
const slowdown = 1
