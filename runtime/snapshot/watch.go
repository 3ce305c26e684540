package snapshot

import goruntime "runtime"

// What a memory knows of the writes to it since the last Reset, with the method Watch.
type knowledge uint8

const (
	unwatched knowledge = iota // there may have been any
	unused                     // nobody has said that there would be some
	watching                   // the thread's faults are being counted
	watched                    // all were to pages that the last Reset has put back
)

// Enter begins a time in which all writes to the memory are those of the calling goroutine, which keeps its thread
// meanwhile. It ends by Leave, or earlier by Loosen. When all writes since the last Reset were in such times, and no
// page of the memory was touched for the first time, the next Reset puts back the pages it knows without asking the
// system for others. With methods other than Watch it does nothing.
func (m *Memory) Enter() {
	if m.known != unused && m.known != watched {
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
	m.known = unwatched
	if faults() == m.faults {
		m.known = watched
	}
	goruntime.UnlockOSThread()
}

// Loosen ends what Enter has begun for somebody who may wait, which is costly on a thread of one's own: the next Reset
// will ask the system.
func (m *Memory) Loosen() {
	if m.known != watching {
		return
	}
	m.known = unwatched
	goruntime.UnlockOSThread()
}
