//go:build unix

package codedir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPrivate refuses a cache to which other users can write native code. dir and the directories of engines in it must
// belong to this user, and must not be writable by others.
func checkPrivate(dir string) error {
	if err := checkOwn(dir); err != nil {
		return err
	}
	for _, pattern := range []string{"wazero-*", "wasmtime-*"} {
		folders, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, folder := range folders {
			if info, err := os.Lstat(folder); err != nil || !isPrivate(info) {
				return notPrivate(folder)
			}
		}
	}
	return nil
}

// checkOwn refuses a directory that belongs to another user, or is writable by others.
func checkOwn(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !isPrivate(info) {
		return notPrivate(dir)
	}
	return nil
}

func notPrivate(folder string) error {
	return fmt.Errorf("%s is writable by other users, or belongs to another user: choose a private directory", folder)
}

func isPrivate(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
