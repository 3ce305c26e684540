package worker

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/snapshot"
)

// anonymous makes a file in memory. Kernels before 6.3 do not know NOEXEC_SEAL, later ones may insist.
func anonymous() (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("wasmres-module", flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("wasmres-module", flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "wasmres-module"), nil
}

// view maps a sealed file in memory for good: its pages are the parent's, and need not be copied.
func view(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	return b, os.NewSyscallError("mmap", err)
}

// seal keeps everybody from writing to a file in memory.
func seal(f *os.File) error {
	return os.NewSyscallError("fcntl", snapshot.Seal(f.Fd()))
}
