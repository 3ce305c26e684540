package snapshot

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Memfd makes an empty file in memory, which can be sealed. The caller closes it. Kernels before 6.3 do not know NOEXEC_SEAL;
// later ones may require it.
func Memfd(name string) (fd int, err error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err = unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate(name, flags)
	}
	return fd, os.NewSyscallError("memfd_create", err)
}

// patience is how long Seal waits, at least, for the kernel to release pages.
const patience = 500 * time.Millisecond

// Seal makes a file in memory read-only for every process, for good. While a process has it mapped for writing, it
// fails with EBUSY after patience: the kernel, too, may use a page for a moment, to move or inspect it.
func Seal(fd uintptr) error {
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	for pause := time.Millisecond; ; pause *= 2 {
		_, err := unix.FcntlInt(fd, unix.F_ADD_SEALS, seals)
		if err != unix.EBUSY || pause > patience/2 {
			return err
		}
		time.Sleep(pause)
	}
}
