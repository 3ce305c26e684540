package stdio

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// widePipe is the room for a large content, in bytes: four times what pipes have by default, and a small part of what one
// user's may have in all (/proc/sys/fs/pipe-user-pages-soft).
const widePipe = 256 << 10

// widen makes room in a pipe, so that who reads it and who writes need not wait for each other so often. It gives how
// many bytes are best written at once: a part of the room, since who reads is woken when a write has ended or there is no
// room left. Zero means any number: what is written to is no pipe, or may not be changed.
func widen(out io.Writer) (atOnce int) {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) { // fails when it is closed, as does the write then
		size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
		if err == nil && size < widePipe {
			size, err = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, widePipe)
		}
		if err == nil {
			atOnce = size / 4
		}
	})
	return atOnce
}
