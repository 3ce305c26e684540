// Package faultpoint names the points at which the end of a process could leave something in half, so that tests can end one
// there. In a program that no test has made, reaching a point does nothing: nothing outside of test files sets what it does,
// which a test of this package holds the tree to.
package faultpoint

import "sync/atomic"

var reached atomic.Pointer[func(name string)]

// Reach says that the process is at a point. It takes one load of memory.
func Reach(name string) {
	if f := reached.Load(); f != nil {
		(*f)(name)
	}
}

// Set has f called at each point, by whichever goroutine is there. Only the processes of tests call it.
func Set(f func(name string)) { reached.Store(&f) }
