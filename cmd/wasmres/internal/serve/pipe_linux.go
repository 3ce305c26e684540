package serve

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// Pollable opens a pipe again, in non-blocking mode, so that a goroutine that reads it occupies no thread. A thread that
// blocks keeps its processor from other goroutines for a while, each time. Pollable returns any other stream, and a pipe
// that it cannot open, as it is. It does not change the mode of the given pipe, which other processes may share.
//
// It is not for pipes to write to: the poller would wake the goroutine for each page that becomes free.
func Pollable(stream io.Reader) io.Reader {
	f, ok := stream.(*os.File)
	if !ok {
		return stream
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 { // all pipes have this bit, not only named ones
		return stream
	}
	fd, err := syscall.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return stream
	}
	return os.NewFile(uintptr(fd), f.Name())
}
