//go:build !linux

package worker

import (
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
)

func anonymous() (*os.File, error) {
	return nil, fmt.Errorf("workers on %s: %w", goruntime.GOOS, errors.ErrUnsupported)
}

func seal(*os.File) error { return errors.ErrUnsupported }

func view(*os.File) ([]byte, error) { return nil, errors.ErrUnsupported }
