//go:build !linux

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Without Linux a child can be killed, and that is all.

func self() (string, error) { return os.Executable() }

// Tie does nothing without Linux.
func Tie() {}

func prepareStarter() {}

func begin(cmd *exec.Cmd, _ kinds) error { return cmd.Start() }

// wishes are none.
func wishes() (kinds, []Namespace) { return 0, nil }

func ask() (kinds, []Namespace) {
	var all []Namespace
	for _, kind := range []string{"user", "pid", "net", "ipc", "uts"} {
		all = append(all, Namespace{Kind: kind, Err: fmt.Errorf("no %s namespace: %w", kind, errors.ErrUnsupported)})
	}
	return 0, all
}

// bury waits for the end of the child.
func (p *Process) bury() {
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
}

func kill(p *os.Process) { _ = p.Kill() }

func passing(error) bool { return false }
