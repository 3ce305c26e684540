//go:build unix && !linux

package tenant

import (
	"io/fs"
	"syscall"
)

// inode returns the number of a file in its file system.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

// quickStamp is for Linux.
func quickStamp(uintptr, string) (stamp, bool) { return stamp{}, false }
