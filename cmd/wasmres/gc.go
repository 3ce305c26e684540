package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// garbageRoom is how much garbage may gather, in bytes, before it is collected, be the heap as small as it may: with
	// Go's own pace a server with little to keep collects dozens of times a second, each time at the cost of those
	// requests that are under way.
	garbageRoom = 24 << 20
	// maxGCPercent bounds what that makes of a very small heap.
	maxGCPercent = 800
)

// space spaces out collections of a small heap. It leaves alone what the operator has set by GOGC.
func space() {
	if os.Getenv("GOGC") != "" {
		return
	}
	p := &pacer{percent: 100, live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	p.adjust()
	p.again()
}

// A pacer adjusts Go's pace after each collection.
type pacer struct {
	percent int
	live    []metrics.Sample
}

// again has adjust called after the next collection.
func (p *pacer) again() {
	mark := new(struct{ _ [16]byte }) // which nobody keeps
	runtime.AddCleanup(mark, func(p *pacer) {
		p.adjust()
		p.again()
	}, p)
}

func (p *pacer) adjust() {
	metrics.Read(p.live)
	if percent := percentFor(p.live[0].Value.Uint64()); percent != p.percent {
		p.percent = percent
		debug.SetGCPercent(percent)
	}
}

// percentFor is the GC percentage for so many bytes in use, in steps, since each change stops the world for a moment.
func percentFor(live uint64) int {
	percent := 100 * garbageRoom / max(live, 1)
	return int(min(max(percent/50*50, 100), maxGCPercent))
}
