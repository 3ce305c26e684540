package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wasmres/wasmres/internal/filelock"
)

// makePrivate makes a folder, unless it exists, and checks that only this user has access to it.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("other users have access to %s: run chmod 700 on it, or choose another folder", dir)
	}
	return nil
}

// makeFile makes an empty file that only this user can read, or checks that an existing one is.
func makeFile(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return errors.Join(f.Close(), syncDir(filepath.Dir(file)))
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: move it away", file)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("other users have access to %s: run chmod 600 on it", file)
	}
	return nil
}

// lock locks a folder for this process, until the file is closed. The file says who has it.
func lock(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	alone, err := filelock.TryLock(f, true)
	if err == nil && !alone {
		err = fmt.Errorf("%s serves from it: end that one, or choose another folder (%w)", holder(f), filelock.ErrHeld)
	}
	if err == nil {
		err = sign(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sign writes the ID of this process.
func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// holder says who has a lock.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return "another process"
	}
	return fmt.Sprintf("another process, %d,", pid)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
