package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A socket is one end of a pair. It uses blocking system calls: waking by Go's poller takes longer than the rest of a
// small call. With a poller, reading waits there instead.
type socket struct {
	file   *os.File
	fd     int             // of file
	poller syscall.RawConn // nil for blocking calls
	// users counts the system calls under way, in steps of using, and has the bit closing. The last call to end after
	// closing closes the file, so that no call uses a descriptor that was reused for another file.
	users      atomic.Int64
	isShutdown atomic.Bool

	onClose func() // releases what calls use beside the descriptor; nil for nothing

	in       unix.Msghdr // for recvmsg, made once
	buffer   unix.Iovec  // of in
	maxFiles int         // how many descriptors may come at once
	control  []byte      // room for them

	mu    sync.Mutex // guards files
	files []*os.File // came and were not taken
}

const (
	closing = 1
	using   = 2
)

// pair makes a pair. With polled, usePoller can open our end.
func pair(polled bool) (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	if polled {
		err = os.NewSyscallError("fcntl", unix.SetNonblock(fds[0], true)) // then NewFile uses the poller
	}
	ours, theirs = os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "parent")
	if err != nil {
		return nil, nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	return ours, theirs, nil
}

// usePoller opens our end of a pair that is polled. It is only for reading.
func (s *socket) usePoller(f *os.File) (err error) {
	s.file = f
	if s.poller, err = f.SyscallConn(); err != nil {
		return err
	}
	return s.poller.Control(func(fd uintptr) { s.fd = int(fd) })
}

func (s *socket) open(f *os.File, maxFiles int) error {
	s.file, s.fd, s.maxFiles = f, int(f.Fd()), maxFiles
	if maxFiles > 0 {
		s.control = make([]byte, unix.CmsgSpace(4*maxFiles))
	}
	var stat unix.Stat_t // a worker may not call getsockopt
	err := unix.Fstat(s.fd, &stat)
	if err == nil && stat.Mode&unix.S_IFMT != unix.S_IFSOCK {
		err = unix.ENOTSOCK
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("%s is not one end of a pair: %w", f.Name(), err)
	}
	return nil
}

// enter keeps the descriptor open until leave, or returns false if it is closed.
func (s *socket) enter() bool {
	for {
		n := s.users.Load()
		if n&closing != 0 {
			return false
		}
		if s.users.CompareAndSwap(n, n+using) {
			return true
		}
	}
}

func (s *socket) leave() error {
	if s.users.Add(-using) != closing {
		return nil
	}
	closeAll(s.takeFiles())
	if s.onClose != nil {
		s.onClose()
	}
	return s.file.Close()
}

// read returns at least one byte, or an error.
func (s *socket) read(p []byte) (int, error) {
	if !s.enter() {
		return 0, ErrClosed
	}
	defer s.leave()
	for {
		n, err := s.receive(p)
		if err == unix.EINTR {
			continue
		}
		if err == nil && (s.in.Controllen > 0 || s.in.Flags&unix.MSG_CTRUNC != 0) {
			err = s.keepFiles()
		}
		switch {
		case s.isShutdown.Load() && (n == 0 || err != nil):
			return 0, ErrClosed
		case err == unix.ECONNRESET: // the other end was closed before it had read everything
			return 0, io.EOF
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// waiting reports whether read returns at once.
func (s *socket) waiting() bool {
	if !s.enter() {
		return true
	}
	defer s.leave()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// receive is recvmsg(2). That of x/sys allocates, and read(2) does not report descriptors.
func (s *socket) receive(p []byte) (int, error) {
	s.buffer.Base = unsafe.SliceData(p)
	s.buffer.SetLen(len(p))
	s.in = unix.Msghdr{Iov: &s.buffer, Control: unsafe.SliceData(s.control)}
	s.in.SetIovlen(1)
	s.in.SetControllen(len(s.control))
	if s.poller == nil {
		return s.recvmsg()
	}
	var n int
	var err error
	polled := s.poller.Read(func(uintptr) bool {
		n, err = s.recvmsg()
		return err != unix.EAGAIN
	})
	return n, cmp.Or(polled, err)
}

func (s *socket) recvmsg() (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.in)), unix.MSG_CMSG_CLOEXEC)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// write sends all of p.
func (s *socket) write(p []byte) error {
	if !s.enter() {
		return ErrClosed
	}
	defer s.leave()
	for len(p) > 0 {
		n, err := s.send(p, nil)
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// writeFiles sends a part of p, and the files with it.
func (s *socket) writeFiles(p []byte, files []*os.File) (int, error) {
	if !s.enter() {
		return 0, ErrClosed
	}
	defer s.leave()
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	n, err := s.send(p, unix.UnixRights(fds...))
	runtime.KeepAlive(files)
	return n, err
}

func (s *socket) send(p, control []byte) (int, error) {
	for {
		n, err := unix.SendmsgN(s.fd, p, control, nil, unix.MSG_NOSIGNAL)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil && s.isShutdown.Load():
			return 0, ErrClosed
		case err == unix.EPIPE || err == unix.ECONNRESET:
			return 0, ErrGone
		}
		return n, err
	}
}

// ring sends one byte that wakes the other process. It does not wait: a socket without room has such bytes.
func (s *socket) ring() error {
	var bell [1]byte
	_, err := unix.SendmsgN(s.fd, bell[:], nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	switch {
	case err == nil || err == unix.EAGAIN:
		return nil
	case s.isShutdown.Load():
		return ErrClosed
	case err == unix.EPIPE || err == unix.ECONNRESET:
		return ErrGone
	}
	return err
}

func (s *socket) shutdown() {
	if !s.enter() {
		return
	}
	s.isShutdown.Store(true)
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR) // fails only if the other end is closed
	_ = s.leave()
}

func (s *socket) close() error {
	if !s.enter() {
		return nil
	}
	s.isShutdown.Store(true)
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
	s.users.Or(closing)
	return s.leave()
}
