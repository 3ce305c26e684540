package sqlite

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/snapshot"
)

// A stream is the parent's end of the connection to a helper, two pipes: the kernel wakes the reader of a pipe sooner than
// that of a socket. It waits for answers in a system call: waking by Go's poller takes longer than a small statement. One
// goroutine reads, writes and closes; interrupt is safe for concurrent use.
type stream struct {
	to, from *os.File
	stop     *os.File       // an eventfd, readable once the stream is interrupted
	waits    [2]unix.PollFd // for from and stop
	box      *box           // nil with one processor
	memory   []byte         // of the box

	pair   process.Pair
	helper *process.Process // which has the processor of the waiting goroutine; nil for none
	lent   time.Time        // when it got that
	slow   bool             // the last answer took slowAnswer or longer
}

// slowAnswer is the time of an answer after which the stream tells Go's scheduler of the next wait.
const slowAnswer = time.Millisecond

// preempts reports whether Go interrupts the system calls of threads that it does not know to wait.
var preempts = !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1")

// lend lets a helper run on the processor of the calling goroutine while that waits for an answer. takeBack must follow.
func (s *stream) lend(helper *process.Process) {
	s.lent = time.Now()
	if s.slow || !preempts {
		s.pair.Part(helper)
		return
	}
	s.helper = helper
	s.pair.Join(helper)
}

// part lets the helper use all processors that the calling goroutine may use.
func (s *stream) part(helper *process.Process) { s.pair.Part(helper) }

// takeBack ends what lend began.
func (s *stream) takeBack() {
	s.helper = nil
	s.pair.Leave()
	s.slow = time.Since(s.lent) >= slowAnswer
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
	if err := s.openBox(theirs); err != nil {
		return err
	}
	s.waits = [2]unix.PollFd{{Fd: int32(answers[0]), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
	return nil
}

// openBox makes the memory of the box.
func (s *stream) openBox(theirs *ends) error {
	fd, err := snapshot.Memfd("wasmres-box")
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "box")
	theirs.files = []*os.File{f}
	if err := sealBox(f); err != nil {
		return err
	}
	if s.memory, err = mapBox(f); err == nil && processors > 1 {
		s.box = boxIn(s.memory)
	}
	return err
}

// processors is how many this process may use. A helper that looks at its box has one for itself.
var processors = runtime.NumCPU()

// Read implements [io.Reader]. Go does not learn of the wait for a quick answer, which costs its scheduler more than the
// answer costs the helper. After some 10 ms, or when Go collects garbage, it sends this thread a signal, which ends such a
// wait: then the helper may use all processors, and the wait goes on as one that Go knows of.
func (s *stream) Read(p []byte) (int, error) {
	for {
		err := s.wait()
		switch {
		case err == unix.EINTR && s.helper != nil:
			s.pair.Part(s.helper)
			s.helper = nil
			continue
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

// wait waits until there is something to read, or until the stream is interrupted.
func (s *stream) wait() error {
	if s.helper == nil {
		_, err := unix.Poll(s.waits[:], -1)
		return err
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&s.waits)), uintptr(len(s.waits)), 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
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
	if s.box = nil; s.memory != nil {
		errs = append(errs, unix.Munmap(s.memory))
		s.memory = nil
	}
	for _, f := range []*os.File{s.to, s.from, s.stop} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
