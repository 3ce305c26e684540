package compiler

import (
	"fmt"
	"os"
	"syscall"
)

// program returns an identifier of the running program's file. No other file has it, nor had it earlier.
func program() (string, error) {
	var s syscall.Stat_t
	if err := syscall.Stat("/proc/self/exe", &s); err != nil {
		return "", &os.PathError{Op: "stat", Path: "/proc/self/exe", Err: err}
	}
	return fmt.Sprintf("%d %d %d %d.%09d %d.%09d ", s.Dev, s.Ino, s.Size, s.Mtim.Sec, s.Mtim.Nsec, s.Ctim.Sec, s.Ctim.Nsec), nil
}
