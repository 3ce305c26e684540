package nodebench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A process is a line of /proc/PID/stat, as far as it is needed.
type process struct {
	parent     int
	cpu, ended time.Duration // of its own, and of its children that have ended
}

// processes returns the processes of the machine.
func processes() map[int]process {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all machines that Go runs on
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		var pid int
		fmt.Sscan(filepath.Base(filepath.Dir(file)), &pid)
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		number := func(i int) (n int64) { // as proc(5) counts fields
			fmt.Sscan(fields[i-3], &n)
			return n
		}
		all[pid] = process{
			parent: int(number(4)), cpu: time.Duration(number(14)+number(15)) * tick, ended: time.Duration(number(16)+number(17)) * tick,
		}
	}
	return all
}

// below calls f for all processes below one.
func below(all map[int]process, pid int, f func(int, process)) {
	for child, p := range all {
		if p.parent == pid {
			f(child, p)
			below(all, child, f)
		}
	}
}

// used returns the processor time that a server has used, by itself and with its children.
func (s *server) used() (own, whole time.Duration) {
	all := processes()
	p := all[s.cmd.Process.Pid]
	whole = p.cpu + p.ended
	below(all, s.cmd.Process.Pid, func(_ int, child process) { whole += child.cpu + child.ended })
	return p.cpu, whole
}

// memory returns the proportional set sizes of a server and of its children, in MiB.
func (s *server) memory() (own, children float64) {
	pid := s.cmd.Process.Pid
	own = kibOf(pid, "smaps_rollup", "Pss") / 1024
	below(processes(), pid, func(child int, _ process) { children += kibOf(child, "smaps_rollup", "Pss") / 1024 })
	return own, children
}

// resident returns the resident set size of a server, in MiB.
func (s *server) resident() float64 { return kibOf(s.cmd.Process.Pid, "status", "VmRSS") / 1024 }

// kibOf returns a number in a file of a process; zero if it has ended.
func kibOf(pid int, file, name string) (n float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	fmt.Sscan(rest, &n)
	return n
}
