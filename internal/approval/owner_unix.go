//go:build unix

package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock opens a pipe without waiting for a writer.
const nonblock = syscall.O_NONBLOCK

// checkPrivate refuses a file that other users can read or write.
func checkPrivate(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("its mode is %04o, so other users can access it: if all its contents are yours, run chmod go-rwx",
			mode)
	}
	if !ownedBySelf(info) {
		return errors.New("it belongs to another user")
	}
	return nil
}

// ownedBySelf reports whether a file belongs to this user.
func ownedBySelf(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// ownedByRootOrSelf reports whether a folder belongs to root or to this user.
func ownedByRootOrSelf(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

// notWritableByOthers reports whether only root and this user can write to a file or folder.
func notWritableByOthers(info fs.FileInfo) bool {
	return ownedByRootOrSelf(info) && info.Mode().Perm()&0o022 == 0
}
