//go:build !unix

package layout

import (
	"errors"
	"io/fs"
)

const nonblock = 0

// checkPrivate accepts every folder: on these systems, the folder of the user is private by its place.
func checkPrivate(fs.FileInfo) error { return nil }

func isDiskFull(error) bool { return false }

func isReadOnly(err error) bool { return errors.Is(err, fs.ErrPermission) }
