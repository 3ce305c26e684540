//go:build !cgo

package confine

import (
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// restrictThreads restricts all threads to a ruleset: without cgo, Go can make a system call on all threads.
func restrictThreads(ruleset int) error {
	if err := noNewPrivileges(); err != nil {
		return err
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

// noNewPrivileges sets no_new_privs on all threads. Each call on all threads stops the process for a moment, and threads
// inherit the flag, so once is enough.
var noNewPrivileges = sync.OnceValue(func() error {
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("set no_new_privs: %w", errno)
	}
	return nil
})

// prepareThreads does the part of restrictThreads that is the same for all rulesets.
func prepareThreads() { _ = noNewPrivileges() }
