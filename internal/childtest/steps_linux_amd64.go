package childtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// KillAtEachStep starts children with a role, one after the other, and kills each with SIGKILL: the first before its first system
// call that changes a file below its folder, the second before its second, and so on, until one ends by itself. For each, prepare
// makes the folder, which is the child's os.Args[1], and check looks at what it has left; step is the call that the child did not
// get to, as in "4: rename". With every it skips all but each so many steps. It returns how many children were killed.
func KillAtEachStep(t *testing.T, role string, every int, prepare func() (dir string), check func(dir, step string)) (kills int) {
	t.Helper()
	for n := 1; ; n += every {
		dir := prepare()
		call, err := killAt(t, role, dir, n)
		if errors.Is(err, syscall.EPERM) {
			t.Skipf("this machine lets no process trace another: %v", err)
		}
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		if call == "" {
			check(dir, "the end")
			return kills
		}
		kills++
		check(dir, fmt.Sprintf("%d: %s", n, call))
	}
}

const (
	waitAll     = 0x40000000 // __WALL
	exitKill    = 0x100000   // PTRACE_O_EXITKILL
	syscallTrap = syscall.SIGTRAP | 0x80
	renameat2   = 316
	pwritev2    = 328
	copyRange   = 326
	openCreates = syscall.O_CREAT | syscall.O_TRUNC
)

// changes are the system calls that change files, by their numbers.
var changes = map[uint64]string{
	syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite", syscall.SYS_WRITEV: "writev", syscall.SYS_PWRITEV: "pwritev", pwritev2: "pwritev2",
	syscall.SYS_FSYNC: "fsync", syscall.SYS_FDATASYNC: "fdatasync", syscall.SYS_FTRUNCATE: "ftruncate", syscall.SYS_FALLOCATE: "fallocate", copyRange: "copy_file_range",
	syscall.SYS_OPENAT: "open", syscall.SYS_RENAME: "rename", syscall.SYS_RENAMEAT: "rename", renameat2: "rename", syscall.SYS_UNLINK: "unlink",
	syscall.SYS_UNLINKAT: "unlink", syscall.SYS_MKDIRAT: "mkdir", syscall.SYS_LINKAT: "link",
}

// byPath are those whose argument is a path.
var byPath = map[string]bool{"rename": true, "unlink": true, "mkdir": true, "link": true}

// killAt runs a child until its n-th change of a file, and returns the call; empty if it ended before.
func killAt(t *testing.T, role, dir string, n int) (call string, err error) {
	runtime.LockOSThread() // which traces the child
	defer runtime.UnlockOSThread()
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(exe, dir)
	cmd.Env = append(os.Environ(), roleKey+"="+role)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	pid := cmd.Process.Pid
	defer func() { _ = cmd.Process.Release() }()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return "", err
	}
	if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE|syscall.PTRACE_O_TRACESYSGOOD|exitKill); err != nil {
		return "", err
	}
	inside := map[int]bool{} // threads within a system call
	next, signal := pid, 0
	for {
		if err := syscall.PtraceSyscall(next, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return "", err
		}
		if next, err = syscall.Wait4(-pid, &status, waitAll, nil); err != nil {
			return "", err
		}
		signal = 0
		switch {
		case (status.Exited() || status.Signaled()) && next == pid:
			if call == "" && (!status.Exited() || status.ExitStatus() != 0) {
				return "", fmt.Errorf("the child ended with %v", status)
			}
			return call, nil
		case !status.Stopped():
		case status.StopSignal() == syscallTrap:
			inside[next] = !inside[next]
			if !inside[next] || call != "" {
				continue
			}
			name := changeOf(next, pid, dir)
			if name == "" {
				continue
			}
			if n--; n == 0 {
				call = name
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					return "", err
				}
			}
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// changeOf returns the call that a thread is about to make, if it changes a file below a folder; else nothing.
func changeOf(thread, pid int, dir string) string {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(thread, &regs) != nil {
		return ""
	}
	name := changes[regs.Orig_rax]
	switch {
	case name == "":
		return ""
	case name == "open":
		if regs.Rdx&openCreates == 0 || !strings.HasPrefix(textAt(thread, uintptr(regs.Rsi)), dir) {
			return ""
		}
	case byPath[name]:
		if !strings.HasPrefix(textAt(thread, uintptr(regs.Rdi)), dir) && !strings.HasPrefix(textAt(thread, uintptr(regs.Rsi)), dir) {
			return ""
		}
	default:
		file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, int32(regs.Rdi)))
		if err != nil || !strings.HasPrefix(file, dir) {
			return ""
		}
	}
	return name
}

// textAt reads a text of a thread's memory that ends with a zero byte; empty if it cannot.
func textAt(thread int, at uintptr) string {
	if at < 4096 {
		return ""
	}
	var text []byte
	for len(text) < 4096 {
		part := make([]byte, 64)
		n, err := syscall.PtracePeekData(thread, at+uintptr(len(text)), part)
		if end := strings.IndexByte(string(part[:n]), 0); end >= 0 {
			return string(append(text, part[:end]...))
		}
		if err != nil || n == 0 {
			return ""
		}
		text = append(text, part[:n]...)
	}
	return ""
}
