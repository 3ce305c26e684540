package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestGCPercentOfAHeap(t *testing.T) {
	for live, want := range map[uint64]int{
		0: maxGCPercent, 1 << 20: maxGCPercent, 6 << 20: 400, 10 << 20: 200, 24 << 20: 100, 1 << 30: 100,
	} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes: got %d, want %d", live, got, want)
		}
	}
}

// The pace follows the heap with each collection, and what the operator says stands.
func TestSpacing(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	t.Setenv("GOGC", "100")
	space()
	if got := percent(); got != 100 {
		t.Errorf("with GOGC set, got %d", got)
	}
	t.Setenv("GOGC", "")
	space()
	for deadline := time.Now().Add(10 * time.Second); percent() == 100; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the pace stays")
		}
	}
	big := make([]byte, 64<<20)
	for deadline := time.Now().Add(10 * time.Second); percent() != 100; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("with 64 MiB in use, got %d", percent())
		}
	}
	runtime.KeepAlive(big)
}
