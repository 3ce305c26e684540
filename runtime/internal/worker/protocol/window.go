package protocol

import (
	"fmt"
	"os"
)

const (
	// DefaultWindow is the size of a window for which NewWindow gets 0, in bytes.
	DefaultWindow = 1 << 20
	// MaxWindow is the largest size, in bytes.
	MaxWindow = 64 << 20
	// minWindow has room for four chunks.
	minWindow = 4 * maxChunk
)

// checkWindow returns an error if a window may not have this size.
func checkWindow(size int64) error {
	if size < minWindow || size > MaxWindow || size%int64(os.Getpagesize()) != 0 {
		return fmt.Errorf("window of %d bytes: it must be whole pages, %d to %d bytes", size, minWindow, MaxWindow)
	}
	return nil
}
