package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymous makes a file in memory.
func anonymous() (*os.File, error) {
	fd, err := unix.MemfdCreate("wasmres-module", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "wasmres-module"), nil
}

// seal keeps everybody from writing to a file in memory.
func seal(f *os.File) error {
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	return os.NewSyscallError("fcntl", err)
}
