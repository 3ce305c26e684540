package sqlite

import (
	"io"
	"os"
	goruntime "runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The main goroutine of a helper stays on the first thread of the process, which the parent moves to its own processor.
func init() {
	if isChild() {
		goruntime.LockOSThread()
	}
}

// requests reads what the parent requests. While requests follow each other closely, Go's scheduler does not learn of the
// waits between them, as in [stream.Read]; it ends the first wait of some 10 ms by a signal.
type requests struct {
	from *os.File
	poll int // an epoll descriptor for from: confinement allows no other call that a signal ends
}

func newRequests(from *os.File) (io.Reader, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, int(from.Fd()), &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	return &requests{from, poll}, nil
}

// Read implements [io.Reader].
func (r *requests) Read(p []byte) (int, error) {
	var event unix.EpollEvent
	_, _, _ = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(r.poll), uintptr(unsafe.Pointer(&event)), 1, ^uintptr(0), 0, 0)
	return r.from.Read(p) // which also waits, after a signal
}

// openBox maps the box, whose file has the first descriptor after the standard ones.
func openBox() (*box, error) {
	f := os.NewFile(uintptr(unix.Stderr+1), "box")
	defer f.Close()
	memory, err := mapBox(f)
	if err != nil {
		return nil, err
	}
	return boxIn(memory), nil
}
