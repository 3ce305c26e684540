package load

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// System calls without a word to Go's scheduler: one thread waits and works, and nothing else of the process has to.

const epollPwait2 = 441 // on every architecture; Linux 5.11

func read(fd int, p []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	return int(n), e
}

// writeAll writes p, which is small, to a descriptor that takes it at once or blocks.
func writeAll(fd int, p []byte) error {
	n, _, e := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 || int(n) != len(p) {
		return fmt.Errorf("wrote %d of %d bytes: %w", int(n), len(p), e)
	}
	return nil
}

// A poller waits for descriptors to become readable.
type poller struct {
	fd     int
	events [128]syscall.EpollEvent
}

func openPoller() (*poller, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	return &poller{fd: fd}, nil
}

func (p *poller) close() { _ = syscall.Close(p.fd) }

// add watches fd, and makes it non-blocking.
func (p *poller) add(fd, tag int) error {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	ev := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(tag)}
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(p.fd, syscall.EPOLL_CTL_ADD, fd, &ev))
}

// wait waits for at most d, which may be zero, and gives the events of what is readable.
func (p *poller) wait(d time.Duration) ([]syscall.EpollEvent, error) {
	ts := syscall.NsecToTimespec(int64(d))
	n, _, e := syscall.RawSyscall6(epollPwait2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	switch e {
	case 0:
		return p.events[:n], nil
	case syscall.EINTR:
		return nil, nil
	}
	return nil, os.NewSyscallError("epoll_pwait2", e)
}

// sharpen makes the calling thread's sleeps end when they should instead of 50 µs later.
func sharpen() {
	const setTimerSlack = 29
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, 1, 0)
}

func dial(addr string) (int, error) {
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return -1, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	to := &syscall.SockaddrInet4{Port: a.Port}
	copy(to.Addr[:], a.IP.To4())
	err = syscall.Connect(fd, to)
	if err == nil {
		err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return -1, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return fd, nil
}

// cpu gives what this process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
