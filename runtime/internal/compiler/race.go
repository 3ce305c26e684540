//go:build race

package compiler

// slowdown is what the race detector does to the compiler in a child.
const slowdown = 10

// environment is that of a child: without it the race detector has the child wait for a second before it exits.
var environment = []string{"GORACE=atexit_sleep_ms=0"}
