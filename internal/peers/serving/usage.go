package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A tree is a process and those it has started, as /proc shows them.
type tree struct{ pid int }

func (s *server) tree() tree { return tree{s.cmd.Process.Pid} }

// children gives the processes below the first one.
func (t tree) children() (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", t.pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(append(pids, pid), tree{pid}.children()...)
			}
		}
	}
	return pids
}

// cpu gives the processor time all have used, and those that have ended.
func (t tree) cpu() (all time.Duration) {
	for _, pid := range append(t.children(), t.pid) {
		all += cpuOf(pid)
	}
	return all
}

// cpuOf adds up what proc_pid_stat(5) calls utime, stime, cutime and cstime.
func cpuOf(pid int) (all time.Duration) {
	const tick = 10 * time.Millisecond
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return 0
	}
	for _, f := range fields[11:15] {
		n, _ := strconv.Atoi(f)
		all += time.Duration(n) * tick
	}
	return all
}

// A memory is MiB of a server and, all together, of those it has started.
type memory struct{ server, children float64 }

func (m memory) minus(o memory) memory { return memory{m.server - o.server, m.children - o.children} }

// memory gives a field of /proc/PID/status: VmRSS now, VmHWM the highest.
func (t tree) memory(field string) (m memory) {
	m.server = memoryOf(t.pid, field)
	for _, pid := range t.children() {
		m.children += memoryOf(pid, field)
	}
	return m
}

func memoryOf(pid int, field string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "\n"+field+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.Atoi(fields[0])
	return float64(kib) / 1024
}

// forgetPeak makes VmHWM what VmRSS is, where the kernel lets us.
func (t tree) forgetPeak() {
	for _, pid := range append(t.children(), t.pid) {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
	}
}
