//go:build !linux

package snapshot

import (
	"errors"
	"os"
)

// ReserveIn is for systems that map images.
func ReserveIn(*os.File) (*Reserve, error) { return nil, errors.ErrUnsupported }

// CheckSavable is for systems that seal files.
func CheckSavable(*os.File) error { return errors.ErrUnsupported }

// Save is for systems that map images.
func Save(_, _ *os.File, _ []byte) error { return errors.ErrUnsupported }

// OpenSaved is for systems that map images.
func OpenSaved(*os.File, Config) (*Image, []byte, error) { return nil, nil, errors.ErrUnsupported }
