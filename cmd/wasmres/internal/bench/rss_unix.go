//go:build unix

package bench

import (
	goruntime "runtime"
	"syscall"
)

// peakRSS is the most memory this process has had resident, in bytes.
func peakRSS() uint64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if goruntime.GOOS == "darwin" || goruntime.GOOS == "ios" {
		return uint64(usage.Maxrss) // already bytes there
	}
	return uint64(usage.Maxrss) << 10
}
