package process

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// An End is how a child ended.
type End struct {
	// Status is its exit status; -1 when a signal ended it.
	Status int
	// Signal is the signal that ended it; zero when it exited.
	Signal syscall.Signal
	// Killed says that Kill was called before it ended.
	Killed bool
	// CPU is the processor time it has used, all threads together.
	CPU time.Duration
	// Stderr is what is kept of its standard error. Anything may be in there.
	Stderr string
}

// String says how it ended in a few words.
func (e End) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal: %v", e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Status)
}

func endOf(state *os.ProcessState, stderr string) End {
	if state == nil { // other code of this process has waited for it
		return End{Status: -1, Stderr: stderr}
	}
	e := End{Status: state.ExitCode(), CPU: state.UserTime() + state.SystemTime(), Stderr: stderr}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}
