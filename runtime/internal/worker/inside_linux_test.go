package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/wasmres/wasmres/runtime/limits"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
	"github.com/wasmres/wasmres/runtime/internal/process"
	"github.com/wasmres/wasmres/runtime/internal/provider"
	"github.com/wasmres/wasmres/runtime/internal/worker"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol"
	"github.com/wasmres/wasmres/runtime/internal/worker/protocol/protocoltest"
)

// attempts are what a worker must not be able to do. Package confine knows many more.
func attempts() map[string]func() error {
	parent := os.Getppid() // 0 where it has a namespace of its own
	call := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			var a [6]uintptr
			copy(a[:], args)
			if _, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	open := func(path string, flags int) func() error {
		return func() error { _, err := unix.Open(path, flags, 0o600); return err }
	}
	socket := func(family, kind int) func() error {
		return func() error { _, err := unix.Socket(family, kind, 0); return err }
	}
	sh := []byte("/bin/sh\x00")
	limit := &unix.Rlimit{Cur: 1 << 40, Max: 1 << 40}
	return map[string]func() error{
		"open a file of the host": open("/etc/passwd", unix.O_RDONLY),
		"open the program":        open("/proc/self/exe", unix.O_RDONLY),
		"open its memory":         open("/proc/self/mem", unix.O_RDWR),
		"open the root":           open("/", unix.O_DIRECTORY),
		"open what it has open":   open("/proc/self/fd/6", unix.O_RDWR),
		"create":                  open("/tmp/made-by-a-worker", unix.O_CREAT|unix.O_WRONLY),
		"stat":                    func() error { return unix.Stat("/etc/passwd", new(unix.Stat_t)) },
		"socket inet":             socket(unix.AF_INET, unix.SOCK_STREAM),
		"socket unix":             socket(unix.AF_UNIX, unix.SOCK_STREAM),
		"socket netlink":          socket(unix.AF_NETLINK, unix.SOCK_RAW),
		"connect":                 func() error { return unix.Connect(fdLink, &unix.SockaddrInet4{Port: 9}) },
		"bind":                    func() error { return unix.Bind(fdLink, &unix.SockaddrInet4{}) },
		"exec":                    func() error { return unix.Exec("/bin/sh", []string{"sh"}, nil) },
		"execveat":                call(unix.SYS_EXECVEAT, ^uintptr(99), uintptr(unsafe.Pointer(&sh[0])), 0, 0, 0),
		"fork":                    call(unix.SYS_CLONE, uintptr(unix.SIGCHLD)),
		"kill the parent":         func() error { return unix.Kill(parent, unix.SIGTERM) },
		"kill everybody":          func() error { return unix.Kill(-1, 0) },
		"tgkill the parent":       func() error { return unix.Tgkill(parent, parent, 0) },
		"ptrace":                  func() error { return unix.PtraceAttach(parent) },
		"process_vm_readv":        call(unix.SYS_PROCESS_VM_READV, uintptr(parent)),
		"process_vm_writev":       call(unix.SYS_PROCESS_VM_WRITEV, uintptr(parent)),
		"pidfd_open":              func() error { _, err := unix.PidfdOpen(max(parent, 1), 0); return err },
		"memfd_create":            func() error { _, err := unix.MemfdCreate("x", 0); return err },
		"io_uring_setup":          call(unix.SYS_IO_URING_SETUP, 1),
		"bpf":                     call(unix.SYS_BPF),
		"perf_event_open":         call(unix.SYS_PERF_EVENT_OPEN),
		"userfaultfd":             call(unix.SYS_USERFAULTFD),
		"unshare":                 func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"setns":                   func() error { return unix.Setns(fdLink, 0) },
		"mount":                   func() error { return unix.Mount("none", "/", "tmpfs", 0, "") },
		"chroot":                  func() error { return unix.Chroot("/") },
		"keyctl":                  func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
		"prlimit of itself":       func() error { return unix.Prlimit(0, unix.RLIMIT_AS, limit, nil) },
		"prlimit of the parent":   func() error { return unix.Prlimit(max(parent, 1), unix.RLIMIT_NOFILE, nil, new(unix.Rlimit)) },
		"setuid":                  call(unix.SYS_SETUID),
		"seccomp":                 call(unix.SYS_SECCOMP, 0, 0, 0),
		"personality":             call(unix.SYS_PERSONALITY, 0xffffffff),
		"ioctl":                   func() error { _, err := unix.IoctlGetInt(fdLink, unix.TIOCINQ); return err },
		"mmap writable code": func() error {
			_, err := unix.Mmap(-1, 0, 4096, unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			return err
		},
		"mmap code": func() error {
			_, err := unix.Mmap(-1, 0, 4096, unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			return err
		},
		"make memory code":          makeCode,
		"dup":                       func() error { _, err := unix.Dup(fdLink); return err },
		"open by handle":            call(unix.SYS_OPEN_BY_HANDLE_AT, uintptr(fdLink)),
		"set the time":              func() error { return unix.Settimeofday(&unix.Timeval{}) },
		"write to the log of Linux": call(unix.SYS_SYSLOG, 10),
	}
}

func makeCode() error {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil // which would be for another reason
	}
	return unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
}

// try makes the attempts in a worker that is locked down, and reports them and what else it sees in the parent's log.
func try() {
	tell := func(message, name, outcome string) {
		m := &protocol.Log{Level: slog.LevelWarn, Message: "guest log", Attrs: []protocol.Attr{{Key: "stream", Value: message}, {Key: "op", Value: name}, {Key: "text", Value: outcome}}}
		payload := m.Append(nil)
		_ = writeAll(fdLink, append(protocoltest.Header(len(payload), protocol.KindLog, 0), payload...))
	}
	for name, attempt := range attempts() {
		err := attempt()
		var errno syscall.Errno
		if errors.As(err, &errno) {
			tell("attempt", name, unix.ErrnoName(errno))
		} else {
			tell("attempt", name, fmt.Sprint(err))
		}
	}
	tell("fact", "environment", fmt.Sprint(os.Environ()))
	tell("fact", "arguments", fmt.Sprint(os.Args))
	tell("fact", "files of native code", fmt.Sprint(codeFiles()))
}

// codeFiles returns the descriptors of files that are as those of native code: only readable, and only by their owner.
func codeFiles() (descriptors []int) {
	for fd := range 64 {
		var is unix.Stat_t
		if unix.Fstat(fd, &is) == nil && is.Mode == unix.S_IFREG|0o400 && is.Size > 0 { // those of the kernel have no size
			descriptors = append(descriptors, fd)
		}
	}
	return descriptors
}

func TestFromInsideAWorkerNothingCanBeDone(t *testing.T) {
	if !confine.Probe().On(confine.Seccomp) {
		t.Skip("the kernel has no seccomp")
	}
	said := reportsOf(t, "tries")
	for name := range attempts() {
		t.Run(name, func(t *testing.T) {
			if got := said["attempt "+name]; got != "EPERM" {
				t.Errorf("got %q, want EPERM", got)
			}
		})
	}
	if got := said["fact environment"]; got != "[]" {
		t.Errorf("its environment is %s", got)
	}
	if got := said["fact arguments"]; got != "[wasmres-worker]" {
		t.Errorf("its arguments are %s", got)
	}
	if got := said["fact files of native code"]; got != "[]" {
		t.Errorf("it has files of native code open: %s", got)
	}
}

// reportsOf returns what a worker of a role has said in the log when it started, by message and name.
func reportsOf(t *testing.T, role string) map[string]string {
	t.Helper()
	log := &recorder{said: map[string]string{}}
	r := newRunner(t, worker.Config{Executable: roleOf(t, role)})
	m := loadPuppet(t, provider.Config{Runner: r, Logger: slog.New(log), Limits: limits.Limits{Timeout: patience}}, well)
	works(t, m)
	checkFromOutside(t)
	log.mu.Lock()
	defer log.mu.Unlock()
	return maps.Clone(log.said)
}

// checkFromOutside looks at the worker from its parent.
func checkFromOutside(t *testing.T) {
	t.Helper()
	pid := workerOf(t)
	for field, want := range map[string]int{"NoNewPrivs": 1, "Seccomp": 2, "CapEff": 0, "CapPrm": 0} {
		if got := status(t, pid, field); got != want {
			t.Errorf("%s is %d, want %d", field, got, want)
		}
	}
	checkDescriptors(t, pid)
	for _, n := range process.Namespaces() {
		ours, err := os.Readlink("/proc/self/ns/" + n.Kind)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, n.Kind))
		if errors.Is(err, os.ErrPermission) {
			continue // it cannot be looked at, which is part of the isolation
		}
		if err != nil || (ours != theirs) != (n.Err == nil) {
			t.Errorf("namespace %s: ours is %s, its is %s, %v", n.Kind, ours, theirs, err)
		}
	}
}

// What a worker has open besides its connections is of no use to it: files in memory, information of the kernel about the process, and what
// Go reads to know how many processors it may use.
func checkDescriptors(t *testing.T, pid int) {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if errors.Is(err, os.ErrPermission) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	harmless := []string{"/dev/null", "pipe:", "socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]", "/memfd:wasmres", "/sys/fs/cgroup/", fmt.Sprintf("/proc/%d/", pid)}
	for _, f := range files {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, f.Name()))
		if err != nil || !slices.ContainsFunc(harmless, func(prefix string) bool { return strings.HasPrefix(to, prefix) }) {
			t.Errorf("descriptor %s leads to %s, %v", f.Name(), to, err)
		}
	}
}

// A recorder is a log that keeps the outcomes by message and name.
type recorder struct {
	mu   sync.Mutex
	said map[string]string // guarded by mu
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }
func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	attrs := map[string]string{}
	record.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value.String(); return true })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said[attrs["stream"]+" "+attrs["op"]] = attrs["text"]
	return nil
}
