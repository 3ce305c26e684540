package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymous makes a file in memory.
func anonymous() (*os.File, error) {
	fd, err := unix.MemfdCreate("wasmres-module", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "wasmres-module"), nil
}
