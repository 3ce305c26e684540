package main

import (
	"fmt"
	"os"
	"syscall"
)

// poll opens a pipe once more, for a goroutine to wait for it that takes no thread to do so: a thread that blocks keeps
// a processor from others for a while, each time. mode is that of open(2). Any other stream, and a pipe that cannot be
// opened, is given back as it is; T must hold an *os.File. What the system knows of the stream it is given, which others may share, stays.
func poll[T any](stream T, mode int) T {
	f, ok := any(stream).(*os.File)
	if !ok {
		return stream
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 { // no name is needed to be one
		return stream
	}
	fd, err := syscall.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), mode|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return stream
	}
	return any(os.NewFile(uintptr(fd), f.Name())).(T)
}
