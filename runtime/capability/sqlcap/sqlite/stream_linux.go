package sqlite

import (
	"encoding/binary"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A stream is the parent's end of the connection to a helper, two pipes: the kernel wakes the reader of a pipe sooner than
// that of a socket. It waits for answers in a system call: waking by Go's poller takes longer than a small statement. One
// goroutine reads, writes and closes; interrupt is safe for concurrent use.
type stream struct {
	to, from *os.File
	stop     *os.File       // an eventfd, readable once the stream is interrupted
	waits    [2]unix.PollFd // for from and stop
}

// newStream opens a connection. The caller closes the stream, and the helper's ends when the helper has them.
func newStream() (s *stream, theirs ends, err error) {
	s = &stream{}
	if err := s.open(&theirs); err != nil {
		theirs.close()
		return nil, ends{}, errors.Join(err, s.Close())
	}
	return s, theirs, nil
}

func (s *stream) open(theirs *ends) (err error) {
	if theirs.in, s.to, err = os.Pipe(); err != nil {
		return err
	}
	var answers [2]int // without Go's poller
	if err := unix.Pipe2(answers[:], unix.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	s.from, theirs.out = os.NewFile(uintptr(answers[0]), "answers"), os.NewFile(uintptr(answers[1]), "answers")
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	s.stop = os.NewFile(uintptr(stop), "stop")
	s.waits = [2]unix.PollFd{{Fd: int32(answers[0]), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
	return nil
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	for {
		_, err := unix.Poll(s.waits[:], -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		case s.waits[1].Revents != 0:
			return 0, os.ErrDeadlineExceeded
		}
		return s.from.Read(p)
	}
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) { return s.to.Write(p) }

// interrupt ends reads and writes under way, and all later ones.
func (s *stream) interrupt() {
	_ = s.to.SetWriteDeadline(time.Unix(1, 0))
	_, _ = s.stop.Write(binary.NativeEndian.AppendUint64(nil, 1)) // fails if the stream is closed
}

// Close closes the stream.
func (s *stream) Close() error {
	var errs []error
	for _, f := range []*os.File{s.to, s.from, s.stop} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
