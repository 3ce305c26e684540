package serve

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// Pollable opens a pipe that is read once more, for a goroutine to wait for it that takes no thread to do so: a thread that
// blocks keeps a processor from others for a while, each time. Any other stream, and a pipe that cannot be opened, is
// given back as it is. What the system knows of the stream it is given, which others may share, stays. A pipe that is
// written is better left to block: the poller wakes up for every page there is room for.
func Pollable(stream io.Reader) io.Reader {
	f, ok := stream.(*os.File)
	if !ok {
		return stream
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 { // no name is needed to be one
		return stream
	}
	fd, err := syscall.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return stream
	}
	return os.NewFile(uintptr(fd), f.Name())
}
