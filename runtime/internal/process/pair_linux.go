package process

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Pair runs a goroutine and the first thread of a child on the same processor while the goroutine waits for the child: the
// kernel wakes a thread on the processor of the waker in some 4 µs, and on another processor in 25 to 60. The zero value is
// ready for use. A Pair is for one child, and belongs to one goroutine at a time.
type Pair struct {
	own   unix.CPUSet // the processors of the calling thread before Join
	child int         // the processor of the child's first thread, plus one; 0 for any
	held  bool        // between Join and Leave
}

// Join moves the child's first thread to the processor of the calling goroutine, and keeps the goroutine on that processor
// until Leave, which must follow. It does nothing when there is only one processor, or when the kernel refuses.
func (p *Pair) Join(child *Process) {
	runtime.LockOSThread()
	var at uint32
	var one unix.CPUSet
	err := unix.SchedGetaffinity(0, &p.own)
	if err != nil || p.own.Count() < 2 || !processorOf(&at) {
		runtime.UnlockOSThread()
		return
	}
	one.Set(int(at))
	if unix.SchedSetaffinity(0, &one) != nil {
		runtime.UnlockOSThread()
		return
	}
	p.held = true
	if int(at)+1 != p.child {
		p.child = int(at) + 1
		child.setFirstThread(&one)
	}
}

// processorOf sets at to the processor of the calling thread.
func processorOf(at *uint32) bool {
	_, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(at)), 0, 0)
	return err == 0
}

// Leave lets the goroutine use all its processors again; the child stays where it is. It does nothing without Join.
func (p *Pair) Leave() {
	if p.held {
		p.held = false
		_ = unix.SchedSetaffinity(0, &p.own) // the set that the thread had
		runtime.UnlockOSThread()
	}
}

// Part is Leave, and lets the child use all these processors as well: for a child that takes long.
func (p *Pair) Part(child *Process) {
	if p.child != 0 {
		p.child = 0
		child.setFirstThread(&p.own)
	}
	p.Leave()
}

// setFirstThread moves the first thread of the child.
func (p *Process) setFirstThread(set *unix.CPUSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = unix.SchedSetaffinity(p.process.Pid, set) // if refused, the child is slower
	}
}
