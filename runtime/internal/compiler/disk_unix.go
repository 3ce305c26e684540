//go:build unix

package compiler

import (
	"io/fs"
	"syscall"
)

// diskSize returns how many bytes a file takes on the disk: one with holes takes less than its size.
func diskSize(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return min(info.Size(), 512*int64(stat.Blocks))
	}
	return info.Size()
}
