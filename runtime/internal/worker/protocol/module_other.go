//go:build !linux

package protocol

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// MemfdOf returns an error that has [errors.ErrUnsupported] in its chain.
func MemfdOf([]byte) (*os.File, error) {
	return nil, fmt.Errorf("workers on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// NewImageFile returns [errors.ErrUnsupported].
func NewImageFile() (*os.File, error) { return nil, errors.ErrUnsupported }

// Allocated returns zero.
func Allocated(*os.File) int64 { return 0 }

// MapFile returns [errors.ErrUnsupported].
func MapFile(*os.File) ([]byte, error) { return nil, errors.ErrUnsupported }

// UnmapFile returns [errors.ErrUnsupported].
func UnmapFile([]byte) error { return errors.ErrUnsupported }
