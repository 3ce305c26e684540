package snapshot

import (
	"time"

	"golang.org/x/sys/unix"
)

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
