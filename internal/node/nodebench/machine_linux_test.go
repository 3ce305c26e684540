package nodebench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// ownTime returns the processor time that this process has used.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatalf("read the processor time of this process: %v", err)
	}
	return time.Duration(t.Nano())
}

// used returns the processor time that a server has used, by itself and with its children. Its own is exact: a turn of a benchmark
// may take no more than some of the ticks that /proc counts.
func (s *server) used() (own, whole time.Duration) {
	s.b.Helper()
	pid := s.cmd.Process.Pid
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil { // as clock_getcpuclockid(3)
		s.b.Fatalf("read the processor time of process %d: %v", pid, err)
	}
	own = time.Duration(t.Nano())
	all := processes()
	whole = own + all[pid].ended
	below(all, pid, func(_ int, child process) { whole += child.cpu + child.ended })
	return own, whole
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
