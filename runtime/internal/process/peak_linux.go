package process

import (
	"os"
	"syscall"
)

// peakOf returns the most resident memory that a process had, or that the one had by which it was started, in bytes.
func peakOf(state *os.ProcessState) int64 {
	used, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(used.Maxrss) << 10
}
