//go:build race

package compiler

// slowdown is what the race detector does to the compiler in a child.
const slowdown = 10
