//go:build !race

package compiler

// slowdown is how much longer than usual this build takes to compile.
const slowdown = 1

// environment is that of a child.
var environment []string // empty
