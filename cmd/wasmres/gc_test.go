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

// A small heap has room for garbage, and one with much in use for no more garbage than that. The percentage is the same
// for both, since one that follows the heap is late.
func TestSpacing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer func(before []byte) { ballast = before }(ballast)
	t.Setenv("GOGC", "100")
	if tuneGC(); ballast != nil || debug.SetGCPercent(100) != 100 {
		t.Error("what the operator has set by GOGC is changed")
	}
	t.Setenv("GOGC", "")
	tuneGC()
	if percent := debug.SetGCPercent(gcPercent); percent != gcPercent {
		t.Errorf("the percentage is %d, want %d", percent, gcPercent)
	}
	if small := nextCollection(); small < 18<<20 {
		t.Errorf("a small heap is collected at %d bytes", small)
	}
	large := make([]byte, 128<<20)
	var m runtime.MemStats
	got := nextCollection()
	runtime.ReadMemStats(&m)
	if used := int(m.HeapAlloc) - len(ballast); got > 2*used {
		t.Errorf("a heap with %d bytes in use is collected at %d, want %d at most", used, got, 2*used)
	}
	runtime.KeepAlive(large)
}
