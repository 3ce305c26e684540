package process

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf returns the processor time of a process by its clock, which has the number that clock_getcpuclockid(3) gives.
func cpuOf(pid int) (time.Duration, error) {
	const cpuclockSched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^uint32(pid)<<3|cpuclockSched), &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}

// CPUOf calls f, and returns the processor time that this goroutine has used for that.
func CPUOf(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := cpuOfThread()
	f()
	return cpuOfThread() - began
}

func cpuOfThread() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // every thread has this clock
	return time.Duration(t.Nano())
}
