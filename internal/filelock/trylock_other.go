//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

import (
	"errors"
	"fmt"
	"os"
)

// TryLock fails: without locks, processes would lose each other's changes.
func TryLock(*os.File, bool) (bool, error) {
	return false, fmt.Errorf("this system has no flock, so nothing is written here: %w", errors.ErrUnsupported)
}

// Close closes a file.
func Close(f *os.File) error { return f.Close() }
