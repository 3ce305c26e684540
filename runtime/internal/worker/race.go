//go:build race

package worker

// slowdown multiplies time limits, since code is slower under the race detector.
const slowdown = 10
