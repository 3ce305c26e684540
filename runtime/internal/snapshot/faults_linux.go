package snapshot

import "golang.org/x/sys/unix"

// faults is how many page faults the calling thread has had; less than zero when the system does not say. A page of a
// private mapping of a file becomes the process's own by a fault of the thread that writes to it. Only a process that
// reaches into the memory of others, as a debugger does, or mlock(2) copies it otherwise.
func faults() int64 {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &used) != nil {
		return -1
	}
	return used.Minflt + used.Majflt
}
