package compiler

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfExecutable names the running program even when its file has been replaced since, as by an upgrade.
func selfExecutable() (string, bool) {
	const self = "/proc/self/exe"
	_, err := os.Stat(self)
	return self, err == nil
}

// isolate gives a child a process group of its own and ties its life to ours.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd returns when a child has ended, and leaves it a zombie.
func awaitEnd(p *os.Process) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killGroup kills a child and what it has started.
func killGroup(p *os.Process) error {
	err := unix.Kill(-p.Pid, unix.SIGKILL)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killedBySystem reports whether a child that we have not killed was killed nevertheless.
func killedBySystem(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// confineSelf sets the limits of a child. RLIMIT_NPROC is not among them: it counts the threads of all the user's
// processes, so that it would hit at random.
func confineSelf(o orders) error {
	reserved, err := addressSpace()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MEMLOCK, 0},
		{unix.RLIMIT_NOFILE, 32},
		{unix.RLIMIT_FSIZE, maxOutput},
		{unix.RLIMIT_CPU, o.CPU},
		// On top of what is reserved: Go sets aside a gigabyte it will not use, the race detector terabytes.
		{unix.RLIMIT_AS, reserved + o.Memory},
	} {
		if err := lower(l.resource, l.value); err != nil {
			return fmt.Errorf("set limit %d: %w", l.resource, err)
		}
	}
	return nil
}

// lower sets a limit unless a lower one is inherited. Soft and hard are the same, since Go ignores the signals of soft
// limits.
func lower(resource int, value uint64) error {
	var inherited unix.Rlimit
	if err := unix.Getrlimit(resource, &inherited); err != nil {
		return err
	}
	value = min(value, inherited.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
}

// addressSpace is how much this process has reserved, in bytes.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return pages * uint64(os.Getpagesize()), nil
}
