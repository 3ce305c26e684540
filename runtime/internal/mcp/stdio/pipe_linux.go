package stdio

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is the size of a pipe for large contents, in bytes: four times the default, and a small part of the limit on
// all pipes of a user (/proc/sys/fs/pipe-user-pages-soft).
const pipeSize = 256 << 10

// growPipe enlarges a pipe, so that its reader and its writer wait for each other less often. It returns how many bytes
// to write at once: a part of the pipe, since the kernel wakes the reader when a write has ended or the pipe is full.
// Zero means any number: out is no pipe, or its size is unknown.
func growPipe(out io.Writer) (maxWrite int) {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) { // fails if the file is closed; the write then fails, too
		size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
		if err == nil && size < pipeSize {
			size, err = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
		}
		if err == nil {
			maxWrite = size / 4
		}
	})
	return maxWrite
}
