// Package atomicfile replaces files in one step.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file to the disk, with a mode, so that no program reads half of it, and a crash leaves the old content or the
// new one. It does not follow a symbolic link at name. After an error the file is as it was, or has the new content.
func Write(name string, text []byte, mode fs.FileMode) error {
	return WriteIf(name, text, mode, func() error { return nil })
}

// WriteIf is Write, but calls check when only the last step is left. If check gives an error, WriteIf gives that error and leaves
// the file as it was.
func WriteIf(name string, text []byte, mode fs.FileMode, check func() error) error {
	dir := filepath.Dir(name)
	temporary, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone, unless something has failed
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir has the name of a new file outlive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some file systems refuse it, and need none
	return d.Close()
}
