package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// nextCollection is the size of the heap, beside the ballast, at which garbage is collected next.
func nextCollection() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.NextGC) - len(ballast)
}

// A small heap has room for garbage, and a large one hardly more than its own size. The percentage is the same for both,
// since one that follows the heap is late.
func TestSpacing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer func(before []byte) { ballast = before }(ballast)
	t.Setenv("GOGC", "100")
	if space(); ballast != nil {
		t.Error("what the operator has set by GOGC is changed")
	}
	t.Setenv("GOGC", "")
	space()
	if percent := debug.SetGCPercent(100); percent != 100 {
		t.Errorf("the percentage is %d, want 100", percent)
	}
	small := nextCollection()
	if small < garbageRoom {
		t.Errorf("a small heap is collected at %d bytes", small)
	}
	large := make([]byte, 64<<20)
	if got, most := nextCollection(), small+3*len(large); got > most {
		t.Errorf("a heap with %d bytes more in use is collected at %d, want %d at most", len(large), got, most)
	}
	runtime.KeepAlive(large)
}
