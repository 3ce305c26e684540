//go:build unix

package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock has a pipe opened without waiting for a writer.
const nonblock = syscall.O_NONBLOCK

// private refuses what others could have written, or can read.
func private(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("its mode is %04o, others than you can use it: if all in it is yours, close it with chmod go-rwx",
			mode)
	}
	if !owned(info) {
		return errors.New("it belongs to somebody else")
	}
	return nil
}

// owned reports whether a file is this user's.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// rooted reports whether a folder is the system's or this user's.
func rooted(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

// guarded reports whether only this user and the system's can write to a file or folder.
func guarded(info fs.FileInfo) bool {
	return rooted(info) && info.Mode().Perm()&0o022 == 0
}
