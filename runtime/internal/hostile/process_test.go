//go:build linux

package hostile_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// limitMemory keeps a child from taking the machine with it. The race detector maps far more than it uses, so with it
// only the parent watches.
func limitMemory() {
	const most = 8 << 30
	if raceEnabled {
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		fmt.Fprintln(os.Stderr, "no limit of memory:", err)
	}
}

// resetPeak makes the kernel forget the peak of resident memory.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func resident() int64 { return status("self", "VmRSS:") }
func peak() int64     { return status("self", "VmHWM:") }

// status reads a figure of a process in bytes; 0 when it is gone.
func status(pid, field string) int64 {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if words := bytes.Fields(line); len(words) == 3 && string(words[0]) == field {
			n, _ := strconv.ParseInt(string(words[1]), 10, 64)
			return n << 10
		}
	}
	return 0
}
