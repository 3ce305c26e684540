//go:build !linux

package compiler

import (
	"fmt"
	"os"
)

// program returns an identifier of the running program's file.
func program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%q %d %d ", path, info.Size(), info.ModTime().UnixNano()), nil
}
