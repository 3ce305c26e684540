//go:build unix

package wazero

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkPrivate refuses a cache directory in which another user could plant native code. dir itself and wazero's own
// folders in it must be ours, and not for others to write.
func checkPrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !isPrivate(info) {
		return notPrivate(dir)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err != nil || !isPrivate(info) {
			return notPrivate(folder)
		}
	}
	return nil
}

func notPrivate(folder string) error {
	return fmt.Errorf("%s: others can write there, or it is not yours: choose a folder that is private to you", folder)
}

func isPrivate(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
