//go:build unix

package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock opens a pipe without waiting for a writer.
const nonblock = syscall.O_NONBLOCK

// checkPrivate refuses a folder that other users can access.
func checkPrivate(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("its mode is %04o, so other users can access it: if all its contents are yours, run chmod go-rwx", mode)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isReadOnly reports whether an error says that this process may not write.
func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
