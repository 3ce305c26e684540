// Package codedir has the directories in which engines store native code: they are private, since their files are run, and each
// engine has its files in a folder of its own.
package codedir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Check makes dir if it does not exist, and refuses one that other users can write to.
func Check(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// CheckOwn is Check for a directory of other files than those of the engine: it does not look at what is in dir.
func CheckOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	if err := checkOwn(dir); err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	return nil
}

// maxEntries bounds the entries of a directory that are read; a valid one has fewer.
const maxEntries = 16

// List returns the paths of the compiled modules in a cache, at most 16 of each directory.
func List(dir string) (found []string, err error) {
	folders, err := list(dir)
	if err != nil {
		return nil, fmt.Errorf("compilation cache: %w", err)
	}
	for _, folder := range folders {
		files, err := list(folder)
		if err != nil {
			return nil, fmt.Errorf("compilation cache: %w", err)
		}
		found = append(found, files...)
	}
	return found, nil
}

// list returns the paths of at most maxEntries entries of a directory; none of a file.
func list(dir string) (paths []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, err
	}
	names, err := f.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths, nil
}
