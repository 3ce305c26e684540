package snapshot

import (
	goruntime "runtime"
	"sync/atomic"
)

// A trackState is what a memory knows of the writes to it since the last Reset, with the method Watch.
type trackState uint8

const (
	untracked trackState = iota // there may have been any
	unwritten                   // there were none
	tracking                    // the thread's page faults are being counted
	tracked                     // all were to pages that the last Reset has restored
)

// trackers is how many memories are tracked now, of maxTrackers at most: one whose goroutine waits takes a thread, of which
// a process has no more than some thousands.
var trackers atomic.Int32

const maxTrackers = 64

// BeginTracking begins a time in which only the calling goroutine writes to the memory. The goroutine keeps its thread
// meanwhile. EndTracking ends that time, or StopTracking earlier. When all writes since the last Reset were in such times,
// and no page of the memory was touched for the first time, the next Reset restores the pages it knows and does not ask
// the system for others. With methods other than Watch, and while very many memories are tracked, it does nothing.
func (m *Memory) BeginTracking() {
	m.StopTracking() // a second BeginTracking would otherwise be ended by the first EndTracking
	if m.track != unwritten && m.track != tracked {
		return
	}
	if trackers.Add(1) > maxTrackers {
		trackers.Add(-1)
		m.track = untracked
		return
	}
	goruntime.LockOSThread()
	m.track, m.faults = tracking, faults()
}

// EndTracking ends what BeginTracking has begun.
func (m *Memory) EndTracking() {
	if m.track != tracking {
		return
	}
	now := faults()
	same := now >= 0 && now == m.faults
	m.StopTracking()
	if same {
		m.track = tracked
	}
}

// StopTracking ends what BeginTracking has begun, before the goroutine waits, which is costly on a thread of its own. The
// next Reset asks the system.
func (m *Memory) StopTracking() {
	if m.track != tracking {
		return
	}
	m.track = untracked
	goruntime.UnlockOSThread()
	trackers.Add(-1)
}
