package process

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownProgram names the running program even if its file has been replaced since, as by an upgrade.
const ownProgram = "/proc/self/exe"

func self() (string, error) {
	if _, err := os.Stat(ownProgram); err != nil {
		return "", fmt.Errorf("find the file of this program: %w: mount /proc, as by 'mount -t proc proc /proc'", err)
	}
	return ownProgram, nil
}

// Tie is for the child: its main calls it first. It makes the kernel kill this process when its parent ends, even if
// the program file has capabilities, as for binding low ports: for such a file the kernel discards the parent's
// setting.
func Tie() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) // the only error is a bad signal number
}

// onFirstThread reports whether this is the thread with which the process began.
func onFirstThread() bool { return unix.Gettid() == unix.Getpid() }

// prepareStarter sets what children inherit from their thread: programs give them no privileges.
func prepareStarter() {
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // Linux 3.5
}

// begin starts a program. It must run on the starter's thread.
func begin(path, name string, attr *os.ProcAttr, own kinds, logger *slog.Logger) (*os.Process, error) {
	p, err := forks.start(path, name, attr, own, logger)
	if p == nil && err == nil {
		p, err = forkExec(path, name, attr, own)
	}
	if err == nil {
		track(p.Pid)
	}
	return p, err
}

// forkExec starts a program without a fork server.
func forkExec(path, name string, attr *os.ProcAttr, own kinds) (*os.Process, error) {
	if err := closeOnExec(); err != nil {
		return nil, err
	}
	attr.Sys = attributes(own)
	return os.StartProcess(path, []string{name}, attr)
}

// closeOnExec keeps descriptors from children that this process has inherited itself. Go does so for all that it opens.
func closeOnExec() error {
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	open, err := filepath.Glob("/proc/self/fd/*") // before Linux 5.11
	if err != nil {
		return err
	}
	for _, file := range open {
		if fd, err := strconv.Atoi(filepath.Base(file)); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// watchEnd returns a file that becomes readable at the end of a child, so that waiting takes no thread; nil before
// Linux 5.10.
func watchEnd(child *os.Process) *os.File {
	fd, err := unix.PidfdOpen(child.Pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

// reap waits for the end of the child. Until then the kernel does not reuse its process id and group, so that a kill
// cannot hit another process.
func (p *Process) reap(watch *os.File) *os.ProcessState {
	awaitEnd(p.process, watch)
	p.mu.Lock()
	kill(p.process.Pid) // the processes it has started
	p.ended = true
	p.mu.Unlock()
	state, _ := p.process.Wait() // none if other code of this process has waited for it
	untrack(p.process.Pid)
	return state
}

// awaitEnd returns when a child has ended, and leaves it a zombie.
func awaitEnd(p *os.Process, watch *os.File) {
	sleepUntilEnd(watch)
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// sleepUntilEnd waits without a thread, and may return early. It closes watch.
func sleepUntilEnd(watch *os.File) {
	if watch == nil {
		return
	}
	defer watch.Close()
	conn, err := watch.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
}

// kill ends a child and the processes it has started. Those that left its process group escape, unless a pid namespace
// or a filter of system calls prevents it; the child itself does not.
func kill(id int) {
	_ = unix.Kill(-id, unix.SIGKILL) // fails if all have ended
	_ = unix.Kill(id, unix.SIGKILL)  // fails if the child was reaped
}

func (p *Process) kill() { kill(p.process.Pid) }
