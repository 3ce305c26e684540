package wire

import (
	"fmt"
	"os"
)

const (
	// DefaultWindow is how large a window is unless somebody knows better, in bytes.
	DefaultWindow = 1 << 20
	// MaxWindow is how large it may be.
	MaxWindow = 64 << 20
	// minWindow keeps four pieces in a window.
	minWindow = 4 * windowPiece
)

// checkWindow says whether a window may have this size.
func checkWindow(size int64) error {
	if size < minWindow || size > MaxWindow || size%int64(os.Getpagesize()) != 0 {
		return fmt.Errorf("window of %d bytes: it must be whole pages, %d to %d bytes", size, minWindow, MaxWindow)
	}
	return nil
}
