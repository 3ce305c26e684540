//go:build race

package compiler

// slowdown is the factor by which the race detector slows the compiler in a child.
const slowdown = 10

// environment is the environment of a child: without the variable, the race detector delays its exit by a second.
var environment = []string{"GORACE=atexit_sleep_ms=0"}
