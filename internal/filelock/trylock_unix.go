//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks an open file until it is closed, see [Close], by whatever ends the process: alone if exclusive, else together with others
// that are not. It reports false if another open file has the lock.
func TryLock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, os.NewSyscallError("flock", err)
		}
	}
}

// Close unlocks an open file and closes it. Closing alone would leave it locked for a moment: a child of this process has the file open
// as well, from the fork until it runs its own program.
func Close(f *os.File) error {
	err := os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
	return errors.Join(err, f.Close())
}
