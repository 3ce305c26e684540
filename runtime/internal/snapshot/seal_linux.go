package snapshot

import (
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long Seal waits at least for what the system has in hand.
const patience = 500 * time.Millisecond

// Seal makes a file in memory read-only for every process, for good. While any has it mapped to write it fails with
// EBUSY, after a while: the system may have a page of it in hand for a moment, to move it or to look at it.
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
