package wasi

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/wasmres/wasmres/runtime/internal/engine"
)

// A System is where a guest's time and random numbers come from. It belongs to the goroutine that runs the guest.
type System interface {
	// Now reads a clock, in nanoseconds.
	Now(Clock) uint64
	// Sleep returns when d has passed. When ctx ends before that it stops the guest, with [engine.Stop].
	Sleep(ctx context.Context, d time.Duration)
	// Random fills p.
	Random(p []byte)
}

// A Clock is one of preview 1.
type Clock uint32

const (
	Realtime  Clock = 0 // since 1970-01-01 UTC
	Monotonic Clock = 1 // never goes back, and is never 0: some guests take that for a broken clock
)

// Real is the system of this machine.
type Real struct{}

// start is the origin of the monotonic clock.
var start = time.Now()

// Continue has the monotonic clock go on from a reading in an earlier process, so that it does not go back for a guest that has
// seen that one. It must be called before any guest runs.
func Continue(reading uint64) { start = time.Now().Add(-time.Duration(min(reading, maxReading))) }

// maxReading bounds what Continue takes, in nanoseconds: a hundred years.
const maxReading = uint64(100 * 365 * 24 * time.Hour)

// Now implements [System].
func (Real) Now(c Clock) uint64 {
	if c == Monotonic {
		return uint64(time.Since(start)) + 1
	}
	return uint64(time.Now().UnixNano())
}

// Sleep implements [System].
func (Real) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		panic(engine.Stop{Err: context.Cause(ctx)})
	}
}

// Random implements [System].
func (Real) Random(p []byte) { _, _ = rand.Read(p) } // never fails
