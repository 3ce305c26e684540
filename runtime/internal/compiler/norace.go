//go:build !race

package compiler

// slowdown is the factor by which this build compiles slower than others.
const slowdown = 1

// environment is the environment of a child.
var environment []string // empty
