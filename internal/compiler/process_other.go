//go:build !linux

package compiler

import (
	"os"
	"os/exec"
)

// Without Linux there is the kill at the deadline, and what Go's own memory limit can do.

func selfExecutable() (string, bool) { return "", false }

func isolate(*exec.Cmd) {}

func awaitEnd(*os.Process) {}

func killGroup(p *os.Process) error { return p.Kill() }

func killedBySystem(*os.ProcessState) bool { return false }

func confineSelf(orders) error { return nil }
