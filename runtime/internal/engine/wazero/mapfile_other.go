//go:build !linux

package wazero

import (
	"errors"
	"os"
)

func mapFile([]byte, *os.File) error { return errors.ErrUnsupported }

func forget([]byte) {}
