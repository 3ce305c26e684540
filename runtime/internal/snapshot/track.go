package snapshot

import (
	goruntime "runtime"
	"sync/atomic"
)

// A trackState says what is known about writes to a memory since the last Reset, with the method Watch.
type trackState uint8

const (
	untracked trackState = iota // there may have been writes to any page
	unwritten                   // there were none
	tracking                    // the thread's page faults are being counted
	tracked                     // all were to pages that the last Reset has restored
)

// trackers is how many memories are tracked now, at most maxTrackers: each takes a thread while its goroutine waits, and a
// process may have only some thousands.
var trackers atomic.Int32

const maxTrackers = 64

// BeginTracking begins a period in which only the calling goroutine writes to the memory, and locks it to its thread.
// EndTracking ends the period, or StopTracking earlier. If all writes since the last Reset fell into such periods, and
// none was the first to its page, the next Reset restores the known pages without asking the kernel for others. With
// methods other than Watch, and while maxTrackers memories are tracked, it does nothing.
func (m *Memory) BeginTracking() {
	m.StopTracking() // otherwise the first EndTracking would end the second period
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

// EndTracking ends the period of BeginTracking.
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

// StopTracking ends the period of BeginTracking before the goroutine waits, since waiting is costly for a goroutine
// locked to its thread. The next Reset asks the kernel.
func (m *Memory) StopTracking() {
	if m.track != tracking {
		return
	}
	m.track = untracked
	goruntime.UnlockOSThread()
	trackers.Add(-1)
}
