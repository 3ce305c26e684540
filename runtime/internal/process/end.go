package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// An End is how a child ended.
type End struct {
	// Status is the exit status; -1 after a signal.
	Status int
	// Signal is the signal that ended the child; zero when it exited.
	Signal syscall.Signal
	// Killed reports whether Kill was called before the end.
	Killed bool
	// CPU is the processor time used, all threads together.
	CPU time.Duration
	// Peak is the most resident memory of the child in bytes, or of the process that started it, whichever is more; zero if unknown.
	Peak int64
	// Stderr is the stored part of standard error. Its content is not trusted.
	Stderr string
}

// String returns a short description of the end.
func (e End) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal: %v", e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Status)
}

func endOf(state *os.ProcessState, stderr string) End {
	if state == nil { // other code of this process has waited for the child
		return End{Status: -1, Stderr: stderr}
	}
	e := End{Status: state.ExitCode(), CPU: state.UserTime() + state.SystemTime(), Peak: peakOf(state), Stderr: stderr}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}
