package main

import (
	"runtime/debug"
	"time"
)

const (
	// delayTime is how long after the start no garbage is collected: a client waits for its first answer.
	delayTime = time.Second
	// delayHeap is the size of Go's heap, in bytes, at which garbage is collected before delayTime has passed.
	delayHeap = 128<<20 + ballastSize
)

// delayGC delays the collection of garbage while a provider is loaded. It is called once.
func delayGC() {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, delayHeap))
	time.AfterFunc(delayTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
