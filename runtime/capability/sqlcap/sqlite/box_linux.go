package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// sealBox gives a file the size of a box, which no process can change then.
func sealBox(f *os.File) error {
	if err := unix.Ftruncate(int(f.Fd()), boxSize); err != nil {
		return os.NewSyscallError("ftruncate", err)
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	return os.NewSyscallError("fcntl", err)
}

// mapBox maps the memory of a box.
func mapBox(f *os.File) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, boxSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return b, os.NewSyscallError("mmap", err)
}
