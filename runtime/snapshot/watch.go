package snapshot

import (
	goruntime "runtime"
	"sync/atomic"
)

// What a memory knows of the writes to it since the last Reset, with the method Watch.
type knowledge uint8

const (
	unwatched knowledge = iota // there may have been any
	unused                     // nobody has said that there would be some
	watching                   // the thread's faults are being counted
	watched                    // all were to pages that the last Reset has put back
)

// watchers is how many memories are being watched now, of maxWatchers at most: one whose goroutine waits takes a thread,
// of which a process has no more than some thousands.
var watchers atomic.Int32

const maxWatchers = 64

// Enter begins a time in which all writes to the memory are those of the calling goroutine, which keeps its thread
// meanwhile. It ends by Leave, or earlier by Loosen. When all writes since the last Reset were in such times, and no
// page of the memory was touched for the first time, the next Reset puts back the pages it knows without asking the
// system for others. With methods other than Watch, and while very many memories are watched, it does nothing.
func (m *Memory) Enter() {
	m.Loosen() // who enters twice leaves once too early
	if m.known != unused && m.known != watched {
		return
	}
	if watchers.Add(1) > maxWatchers {
		watchers.Add(-1)
		m.known = unwatched
		return
	}
	goruntime.LockOSThread()
	m.known, m.faults = watching, faults()
}

// Leave ends what Enter has begun.
func (m *Memory) Leave() {
	if m.known != watching {
		return
	}
	now := faults()
	same := now >= 0 && now == m.faults
	m.Loosen()
	if same {
		m.known = watched
	}
}

// Loosen ends what Enter has begun for somebody who may wait, which is costly on a thread of one's own: the next Reset
// will ask the system.
func (m *Memory) Loosen() {
	if m.known != watching {
		return
	}
	m.known = unwatched
	goruntime.UnlockOSThread()
	watchers.Add(-1)
}
