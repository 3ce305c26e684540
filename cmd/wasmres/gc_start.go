package main

import (
	"runtime/debug"
	"time"
)

const (
	// holdTime is for how long garbage is not collected from the start on: a client waits for its first answer.
	delayTime = time.Second
	// holdHeap is how much memory Go's heap may take, in bytes, before garbage is collected all the same.
	delayHeap = 128<<20 + ballastSize
)

// delayGC puts off the collection of garbage while a provider is loaded. It is called once.
func delayGC() {
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, delayHeap))
	time.AfterFunc(delayTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
