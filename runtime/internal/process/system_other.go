//go:build !linux

package process

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
)

// Without Linux, this package can start and kill a child, and no more.

func self() (string, error) { return os.Executable() }

// Main does nothing without Linux.
func Main() {}

// ForkServer returns zero without Linux.
func ForkServer() int { return 0 }

// Tie does nothing without Linux.
func Tie() {}

func onFirstThread() bool { return false }

func prepareStarter() {}

func begin(path, name string, attr *os.ProcAttr, _ kinds, _ *slog.Logger) (*os.Process, error) {
	return os.StartProcess(path, []string{name}, attr)
}

// probeNamespaces returns none.
func probeNamespaces() (kinds, []Namespace) { return 0, nil }

func ask() (kinds, []Namespace) {
	var all []Namespace
	for _, kind := range []string{"user", "pid", "net", "ipc", "uts"} {
		all = append(all, Namespace{Kind: kind, Err: fmt.Errorf("no %s namespace: %w", kind, errors.ErrUnsupported)})
	}
	return 0, all
}

func watchEnd(*os.Process) *os.File { return nil }

// reap waits for the end of the child.
func (p *Process) reap(*os.File) *os.ProcessState {
	state, _ := p.process.Wait() // none if other code of this process has waited for it
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	return state
}

func (p *Process) kill() { _ = p.process.Kill() }

func isTransient(error) bool { return false }
