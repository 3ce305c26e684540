package confine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// An attempt is one thing a confined process should not be able to do. It is refused with EPERM unless want says
// otherwise.
type attempt struct {
	name    string
	try     func(s *spoils) error
	want    syscall.Errno
	entered bool // refused in the first stage as well
	rare    bool // an unconfined process may well be refused it with EPERM too, or would not survive it
}

// spoils are what a process has had before it was confined.
type spoils struct {
	dir                   string // with a file "old"
	pid, parent           int
	inet, unix, listening int
	namespace, memfd      int
	plain, written        []byte // mapped for reading, and for reading and writing
}

func newSpoils(dir string) (s *spoils, err error) {
	s = &spoils{dir: dir, pid: os.Getpid(), parent: os.Getppid()}
	open := func(f func() (int, error)) (fd int) {
		if err == nil {
			fd, err = f()
		}
		return fd
	}
	s.inet = open(func() (int, error) { return unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0) })
	s.unix = open(func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) })
	s.listening = open(func() (int, error) { return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) })
	s.namespace = open(func() (int, error) { return unix.Open("/proc/self/ns/net", unix.O_RDONLY, 0) })
	s.memfd = open(func() (int, error) { return unix.MemfdCreate("spoils", unix.MFD_ALLOW_SEALING) })
	if err != nil {
		return nil, err
	}
	if err := errors.Join(unix.Bind(s.listening, abstract(s.pid)), unix.Listen(s.listening, 1), unix.Ftruncate(s.memfd, 4096)); err != nil {
		return nil, err
	}
	if s.plain, err = anonymous(unix.PROT_READ); err != nil {
		return nil, err
	}
	s.written, err = anonymous(unix.PROT_READ | unix.PROT_WRITE)
	return s, err
}

func abstract(pid int) unix.Sockaddr {
	return &unix.SockaddrUnix{Name: fmt.Sprintf("@confine-test-%d", pid)}
}

func anonymous(protection int) ([]byte, error) {
	return unix.Mmap(-1, 0, 4096, protection, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// call makes a system call.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// fork makes a system call that may return twice.
func fork(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	pid, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, err := unix.Wait4(int(pid), nil, unix.WALL, nil)
	return err
}

// high is a bit of an argument that the kernel does not look at and a filter must.
func high() uintptr {
	bit := uint64(1) << 32
	return uintptr(bit)
}

func discard[T any](_ T, err error) error { return err }

// attempts are those on every architecture; moreAttempts those on this one.
func attempts() []attempt {
	all := append(fileAttempts(), processAttempts()...)
	all = append(all, memoryAttempts()...)
	all = append(all, socketAttempts()...)
	all = append(all, descriptorAttempts()...)
	return append(all, moreAttempts()...)
}

func fileAttempts() []attempt {
	in := func(s *spoils, name string) string { return filepath.Join(s.dir, name) }
	passwd := "/etc/passwd"
	open := func(p string, flags int) error { return discard(unix.Open(p, flags, 0o600)) }
	return []attempt{
		{name: "open /etc/passwd", try: func(*spoils) error { return open(passwd, unix.O_RDONLY) }},
		{name: "open with O_PATH", try: func(*spoils) error { return open(passwd, unix.O_PATH) }},
		{name: "open /proc/self/environ", try: func(*spoils) error { return open("/proc/self/environ", unix.O_RDONLY) }},
		{name: "open /proc/self/mem", try: func(*spoils) error { return open("/proc/self/mem", unix.O_RDWR) }},
		{name: "open a file of one's own", try: func(s *spoils) error { return open(in(s, "old"), unix.O_RDWR) }},
		{name: "create", try: func(s *spoils) error { return open(in(s, "new"), unix.O_CREAT|unix.O_WRONLY) }},
		{name: "create a temporary file", try: func(s *spoils) error { return open(s.dir, unix.O_TMPFILE|unix.O_WRONLY) }},
		{name: "openat2", entered: true, try: func(*spoils) error {
			return discard(unix.Openat2(unix.AT_FDCWD, passwd, &unix.OpenHow{}))
		}},
		{name: "stat", try: func(*spoils) error { return unix.Stat(passwd, new(unix.Stat_t)) }},
		{name: "statx", entered: true, try: func(*spoils) error { return unix.Statx(unix.AT_FDCWD, passwd, 0, 0, new(unix.Statx_t)) }},
		{name: "statfs", entered: true, try: func(*spoils) error { return unix.Statfs("/", new(unix.Statfs_t)) }},
		{name: "access", entered: true, try: func(*spoils) error { return unix.Access(passwd, unix.R_OK) }},
		{name: "readlink", entered: true, try: func(*spoils) error {
			return discard(unix.Readlink("/proc/self/exe", make([]byte, 100)))
		}},
		{name: "mkdir", try: func(s *spoils) error { return unix.Mkdir(in(s, "folder"), 0o700) }},
		{name: "mknod", entered: true, try: func(s *spoils) error { return unix.Mknod(in(s, "fifo"), unix.S_IFIFO|0o600, 0) }},
		{name: "link", entered: true, try: func(s *spoils) error { return unix.Link(in(s, "old"), in(s, "hard")) }},
		{name: "symlink", entered: true, try: func(s *spoils) error { return unix.Symlink("old", in(s, "soft")) }},
		{name: "rename", try: func(s *spoils) error { return unix.Rename(in(s, "old"), in(s, "old")) }},
		{name: "renameat2", entered: true, try: func(s *spoils) error {
			return unix.Renameat2(unix.AT_FDCWD, in(s, "old"), unix.AT_FDCWD, in(s, "old"), 0)
		}},
		{name: "unlink", try: func(s *spoils) error { return unix.Unlink(in(s, "second")) }},
		{name: "truncate", entered: true, try: func(s *spoils) error { return unix.Truncate(in(s, "old"), 0) }},
		{name: "chmod", entered: true, try: func(s *spoils) error { return unix.Chmod(in(s, "old"), 0o600) }},
		{name: "chown", entered: true, try: func(s *spoils) error { return unix.Lchown(in(s, "old"), -1, -1) }},
		{name: "utimes", entered: true, try: func(s *spoils) error { return unix.Utimes(in(s, "old"), nil) }},
		{name: "setxattr", entered: true, try: func(s *spoils) error { return unix.Setxattr(in(s, "old"), "user.a", nil, 0) }},
		{name: "list a folder", try: func(s *spoils) error { return discard(os.ReadDir(s.dir)) }},
		{name: "getdents64", try: func(s *spoils) error { return call(unix.SYS_GETDENTS64, uintptr(s.memfd), 0, 0) }},
		{name: "chdir", entered: true, try: func(*spoils) error { return unix.Chdir("/") }},
		{name: "chroot", entered: true, rare: true, try: func(*spoils) error { return unix.Chroot("/") }},
		{name: "getcwd", try: func(*spoils) error { return discard(unix.Getcwd(make([]byte, 4096))) }},
		{name: "umask", entered: true, try: func(*spoils) error { return call(unix.SYS_UMASK, 0o77) }},
		{name: "inotify", entered: true, try: func(*spoils) error { return discard(unix.InotifyInit1(0)) }},
		{name: "fanotify", entered: true, rare: true, try: func(*spoils) error { return discard(unix.FanotifyInit(0, 0)) }},
		{name: "mount", entered: true, rare: true, try: func(s *spoils) error { return unix.Mount("none", s.dir, "tmpfs", 0, "") }},
		{name: "fsopen", entered: true, rare: true, try: func(*spoils) error { return discard(unix.Fsopen("tmpfs", 0)) }},
		{name: "open_tree", entered: true, try: func(*spoils) error { return discard(unix.OpenTree(unix.AT_FDCWD, "/", 0)) }},
		{name: "open_by_handle_at", entered: true, rare: true, try: func(*spoils) error {
			return call(unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0)
		}},
	}
}

func processAttempts() []attempt {
	own := uintptr(os.Getpid())
	return []attempt{
		{name: "execve", entered: true, try: func(*spoils) error { return unix.Exec("/nonexistent", nil, nil) }},
		{name: "execveat", entered: true, try: func(*spoils) error { return call(unix.SYS_EXECVEAT, ^uintptr(0), 0) }},
		{name: "fork by clone", entered: true, try: func(*spoils) error { return fork(unix.SYS_CLONE, uintptr(unix.SIGCHLD)) }},
		{name: "fork without a signal", entered: true, try: func(*spoils) error { return fork(unix.SYS_CLONE, 0) }},
		{name: "fork with a signal that is the number of a call", entered: true, try: func(*spoils) error {
			return fork(unix.SYS_CLONE, unix.SYS_MPROTECT&0x7f)
		}},
		{name: "fork into a namespace", entered: true, rare: true, try: func(*spoils) error {
			return fork(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_NEWUSER)
		}},
		// These share memory: without a filter they would ruin the parent.
		{name: "vfork by clone", entered: true, rare: true, try: func(*spoils) error {
			return fork(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_VM|unix.CLONE_VFORK)
		}},
		{name: "a process in this memory", entered: true, rare: true, try: func(*spoils) error {
			return fork(unix.SYS_CLONE, unix.CLONE_VM)
		}},
		{name: "a thread in a namespace", entered: true, rare: true, try: func(*spoils) error {
			return fork(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_THREAD|unix.CLONE_SIGHAND|unix.CLONE_NEWNET)
		}},
		{name: "clone3", entered: true, want: unix.ENOSYS, try: func(*spoils) error { return call(unix.SYS_CLONE3, 0, 0) }},
		{name: "kill the parent", entered: true, try: func(s *spoils) error { return unix.Kill(s.parent, 0) }},
		{name: "kill process 1", entered: true, rare: true, try: func(*spoils) error { return unix.Kill(1, 0) }},
		{name: "kill oneself", entered: true, try: func(s *spoils) error { return unix.Kill(s.pid, 0) }},
		{name: "tgkill the parent", entered: true, try: func(s *spoils) error { return unix.Tgkill(s.parent, s.parent, 0) }},
		{name: "tgkill with a high half", entered: true, try: func(s *spoils) error {
			return call(unix.SYS_TGKILL, uintptr(s.pid)|high(), uintptr(s.pid), 0)
		}},
		{name: "tkill", entered: true, try: func(s *spoils) error { return call(unix.SYS_TKILL, uintptr(s.parent), 0) }},
		{name: "rt_sigqueueinfo", entered: true, try: func(s *spoils) error { return call(unix.SYS_RT_SIGQUEUEINFO, own, 0, 0) }},
		{name: "rt_tgsigqueueinfo", entered: true, try: func(*spoils) error {
			return call(unix.SYS_RT_TGSIGQUEUEINFO, own, own, 0, 0)
		}},
		{name: "ptrace", entered: true, rare: true, try: func(s *spoils) error { return unix.PtraceSeize(s.parent) }},
		{name: "process_vm_readv", entered: true, try: func(*spoils) error { return call(unix.SYS_PROCESS_VM_READV, own) }},
		{name: "process_vm_writev", entered: true, try: func(*spoils) error { return call(unix.SYS_PROCESS_VM_WRITEV, own) }},
		{name: "process_madvise", entered: true, try: func(*spoils) error { return call(unix.SYS_PROCESS_MADVISE, ^uintptr(0)) }},
		{name: "kcmp", entered: true, try: func(*spoils) error { return call(unix.SYS_KCMP, own, own, 99) }},
		{name: "pidfd_open", entered: true, try: func(s *spoils) error { return discard(unix.PidfdOpen(s.parent, 0)) }},
		{name: "pidfd_getfd", entered: true, try: func(*spoils) error { return discard(unix.PidfdGetfd(-1, 0, 0)) }},
		{name: "pidfd_send_signal", entered: true, try: func(*spoils) error { return unix.PidfdSendSignal(-1, 0, nil, 0) }},
		{name: "wait4", entered: true, try: func(*spoils) error { return discard(unix.Wait4(-1, nil, unix.WNOHANG, nil)) }},
		{name: "prlimit on the parent", entered: true, try: func(s *spoils) error {
			return unix.Prlimit(s.parent, unix.RLIMIT_NOFILE, nil, new(unix.Rlimit))
		}},
		{name: "setrlimit", entered: true, try: func(*spoils) error {
			return unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 10, Max: 10}, nil)
		}},
		{name: "unshare a user namespace", entered: true, rare: true, try: func(*spoils) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
		{name: "unshare files", entered: true, try: func(*spoils) error { return unix.Unshare(unix.CLONE_FILES) }},
		{name: "setns", entered: true, rare: true, try: func(s *spoils) error { return unix.Setns(s.namespace, 0) }},
		{name: "seccomp", try: func(*spoils) error {
			return call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, 0)
		}},
		{name: "seccomp listener", entered: true, try: func(*spoils) error {
			return call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, 0)
		}},
		{name: "landlock", try: func(*spoils) error { return call(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1) }},
		{name: "prctl PR_SET_DUMPABLE", entered: true, try: func(*spoils) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }},
		{name: "prctl PR_SET_PTRACER", entered: true, want: unix.EPERM, try: func(*spoils) error {
			return unix.Prctl(unix.PR_SET_PTRACER, 0, 0, 0, 0)
		}},
		{name: "prctl PR_SET_PDEATHSIG", entered: true, try: func(*spoils) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
		{name: "prctl PR_SET_NAME", entered: true, try: func(*spoils) error { return unix.Prctl(unix.PR_SET_NAME, 0, 0, 0, 0) }},
		{name: "personality", entered: true, try: func(*spoils) error { return call(unix.SYS_PERSONALITY, 0xffffffff) }},
		{name: "setpriority", entered: true, try: func(*spoils) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 1) }},
		{name: "sched_setaffinity", entered: true, try: func(*spoils) error { return unix.SchedSetaffinity(0, &unix.CPUSet{1}) }},
		{name: "setuid", entered: true, try: func(*spoils) error { return call(unix.SYS_SETUID, uintptr(os.Getuid())) }},
		{name: "setsid", entered: true, rare: true, try: func(*spoils) error { return discard(unix.Setsid()) }},
		{name: "setpgid", entered: true, try: func(*spoils) error { return unix.Setpgid(0, 0) }},
		{name: "uname", entered: true, try: func(*spoils) error { return unix.Uname(new(unix.Utsname)) }},
		{name: "sysinfo", entered: true, try: func(*spoils) error { return unix.Sysinfo(new(unix.Sysinfo_t)) }},
		{name: "keyctl", entered: true, rare: true, try: func(*spoils) error { return discard(unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)) }},
		{name: "add_key", entered: true, try: func(*spoils) error { return call(unix.SYS_ADD_KEY) }},
		{name: "request_key", entered: true, try: func(*spoils) error { return call(unix.SYS_REQUEST_KEY) }},
		{name: "bpf", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_BPF, 0, 0, 0) }},
		{name: "perf_event_open", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_PERF_EVENT_OPEN) }},
		{name: "timer_create", entered: true, try: func(*spoils) error { return call(unix.SYS_TIMER_CREATE, 99) }},
		{name: "setitimer", entered: true, try: func(*spoils) error { return call(unix.SYS_SETITIMER, 99) }},
		{name: "reboot", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_REBOOT, 0, 0, 0) }},
		{name: "init_module", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_INIT_MODULE) }},
	}
}

func memoryAttempts() []attempt {
	const rwx = unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC
	const rx = unix.PROT_READ | unix.PROT_EXEC
	return []attempt{
		{name: "mmap RWX", entered: true, try: func(*spoils) error { return discard(anonymous(rwx)) }},
		{name: "mmap RX", try: func(*spoils) error { return discard(anonymous(rx)) }},
		{name: "mmap a file RX", try: func(s *spoils) error {
			return discard(unix.Mmap(s.memfd, 0, 4096, rx, unix.MAP_PRIVATE))
		}},
		{name: "mprotect RWX", entered: true, try: func(s *spoils) error { return unix.Mprotect(s.written, rwx) }},
		{name: "mprotect RX", try: func(s *spoils) error { return unix.Mprotect(s.plain, rx) }},
		{name: "pkey_mprotect", entered: true, try: func(*spoils) error { return call(unix.SYS_PKEY_MPROTECT, 1) }},
		{name: "mremap", entered: true, try: func(*spoils) error { return call(unix.SYS_MREMAP, 1) }},
		{name: "remap_file_pages", entered: true, try: func(*spoils) error { return call(unix.SYS_REMAP_FILE_PAGES, 1) }},
		{name: "madvise HWPOISON", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_MADVISE, 1, 0, 100) }},
		{name: "mincore", entered: true, try: func(*spoils) error { return call(unix.SYS_MINCORE, 1) }},
		{name: "mlock", entered: true, rare: true, try: func(s *spoils) error { return unix.Mlock(s.written) }},
		{name: "mseal", entered: true, try: func(*spoils) error { return call(462, 1) }},
		{name: "memfd_create", try: func(*spoils) error { return discard(unix.MemfdCreate("x", 0)) }},
		{name: "memfd_secret", entered: true, try: func(*spoils) error { return call(447, 0xff) }},
		{name: "shmget", entered: true, try: func(*spoils) error { return call(unix.SYS_SHMGET, 0, 0, 0) }},
		{name: "shmat", entered: true, try: func(*spoils) error { return call(unix.SYS_SHMAT, ^uintptr(0)) }},
		{name: "msgget", entered: true, try: func(*spoils) error { return call(unix.SYS_MSGGET, 99, 0) }},
		{name: "semget", entered: true, try: func(*spoils) error { return call(unix.SYS_SEMGET, 99, 0, 0) }},
		{name: "mq_open", entered: true, try: func(*spoils) error { return call(unix.SYS_MQ_OPEN, 1) }},
		{name: "userfaultfd", entered: true, rare: true, try: func(*spoils) error { return call(unix.SYS_USERFAULTFD, 0xff) }},
		{name: "io_uring_setup", entered: true, try: func(*spoils) error { return call(unix.SYS_IO_URING_SETUP, 1, 0) }},
		{name: "io_uring_enter", entered: true, try: func(*spoils) error { return call(unix.SYS_IO_URING_ENTER, ^uintptr(0)) }},
		{name: "io_setup", entered: true, try: func(*spoils) error { return call(unix.SYS_IO_SETUP, 1, 0) }},
		{name: "membarrier", entered: true, try: func(*spoils) error { return call(unix.SYS_MEMBARRIER, 0xff) }},
		{name: "move_pages", entered: true, try: func(*spoils) error { return call(unix.SYS_MOVE_PAGES, 0, 1, 0, 0, 0, 0xff) }},
	}
}

func socketAttempts() (all []attempt) {
	for name, family := range map[string]int{
		"inet": unix.AF_INET, "inet6": unix.AF_INET6, "unix": unix.AF_UNIX, "netlink": unix.AF_NETLINK,
		"vsock": unix.AF_VSOCK, "alg": unix.AF_ALG,
	} {
		all = append(all, attempt{name: "socket " + name, entered: true, try: func(*spoils) error {
			return discard(unix.Socket(family, unix.SOCK_DGRAM, 0))
		}})
	}
	loopback := &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}}
	return append(all, []attempt{
		{name: "socket raw", entered: true, rare: true, try: func(*spoils) error {
			return discard(unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP))
		}},
		{name: "socket packet", entered: true, rare: true, try: func(*spoils) error { return discard(unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)) }},
		{name: "socketpair", entered: true, try: func(*spoils) error { return discard(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)) }},
		{name: "connect", entered: true, try: func(s *spoils) error { return unix.Connect(s.inet, loopback) }},
		{name: "connect a unix socket", entered: true, try: func(s *spoils) error {
			return unix.Connect(s.unix, abstract(s.pid))
		}},
		{name: "bind", entered: true, try: func(s *spoils) error { return unix.Bind(s.inet, &unix.SockaddrInet4{}) }},
		{name: "listen", entered: true, try: func(s *spoils) error { return unix.Listen(s.inet, 1) }},
		{name: "accept4", entered: true, try: func(s *spoils) error {
			return call(unix.SYS_ACCEPT4, uintptr(s.unix), 0, 0, 0)
		}},
		{name: "setsockopt", entered: true, try: func(s *spoils) error {
			return unix.SetsockoptInt(s.inet, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		}},
		{name: "getsockopt", try: func(s *spoils) error {
			return discard(unix.GetsockoptInt(s.inet, unix.SOL_SOCKET, unix.SO_TYPE))
		}},
		{name: "sendmmsg", entered: true, try: func(s *spoils) error { return call(unix.SYS_SENDMMSG, uintptr(s.unix), 0, 0, 0) }},
		{name: "recvmmsg", entered: true, try: func(s *spoils) error { return call(unix.SYS_RECVMMSG, uintptr(s.unix), 0, 0, 0) }},
	}...)
}

func descriptorAttempts() []attempt {
	control := func(s *spoils, command int, arg int) error {
		return discard(unix.FcntlInt(uintptr(s.unix), command, arg))
	}
	return []attempt{
		{name: "ioctl TIOCSTI", entered: true, rare: true, try: func(*spoils) error { return unix.IoctlSetPointerInt(0, unix.TIOCSTI, 'x') }},
		{name: "ioctl FIONREAD", entered: true, try: func(s *spoils) error { return discard(unix.IoctlGetInt(s.unix, unix.TIOCINQ)) }},
		{name: "ioctl PAGEMAP_SCAN with a high half", entered: true, try: func(s *spoils) error {
			return call(unix.SYS_IOCTL, uintptr(s.unix), high()|0xc0606610, 0)
		}},
		{name: "fcntl F_SETOWN", entered: true, try: func(s *spoils) error { return control(s, unix.F_SETOWN, 0) }},
		{name: "fcntl F_SETSIG", entered: true, try: func(s *spoils) error { return control(s, unix.F_SETSIG, 0) }},
		{name: "fcntl F_SETLEASE", entered: true, try: func(s *spoils) error { return control(s, unix.F_SETLEASE, unix.F_UNLCK) }},
		{name: "fcntl F_DUPFD", entered: true, try: func(s *spoils) error { return control(s, unix.F_DUPFD, 0) }},
		{name: "fcntl F_DUPFD_CLOEXEC", try: func(s *spoils) error { return control(s, unix.F_DUPFD_CLOEXEC, 0) }},
		{name: "fcntl F_SETPIPE_SZ", entered: true, try: func(s *spoils) error { return control(s, unix.F_SETPIPE_SZ, 0) }},
		{name: "dup", entered: true, try: func(s *spoils) error { return discard(unix.Dup(s.unix)) }},
		{name: "dup3", entered: true, try: func(s *spoils) error { return unix.Dup3(s.unix, 40, 0) }},
		{name: "close_range", entered: true, try: func(*spoils) error { return unix.CloseRange(1000, 1001, 0) }},
		{name: "pipe2", entered: true, try: func(*spoils) error { return unix.Pipe2(make([]int, 2), 0) }},
		{name: "signalfd", entered: true, try: func(*spoils) error { return discard(unix.Signalfd(-1, new(unix.Sigset_t), 0)) }},
		{name: "timerfd", entered: true, try: func(*spoils) error { return discard(unix.TimerfdCreate(unix.CLOCK_MONOTONIC, 0)) }},
		{name: "splice", entered: true, try: func(s *spoils) error { return discard(unix.Splice(s.memfd, nil, s.memfd, nil, 1, 0)) }},
		{name: "copy_file_range", entered: true, try: func(s *spoils) error {
			return discard(unix.CopyFileRange(s.memfd, nil, s.memfd, nil, 0, 0))
		}},
		{name: "sendfile", entered: true, try: func(s *spoils) error { return discard(unix.Sendfile(s.unix, s.memfd, nil, 1)) }},
		{name: "flock", entered: true, try: func(s *spoils) error { return unix.Flock(s.memfd, unix.LOCK_EX) }},
		{name: "fallocate", entered: true, try: func(s *spoils) error { return unix.Fallocate(s.memfd, 0, 0, 1) }},
		{name: "fchmod", entered: true, try: func(s *spoils) error { return unix.Fchmod(s.memfd, 0o600) }},
		{name: "fchdir", entered: true, try: func(s *spoils) error { return unix.Fchdir(s.memfd) }},
		{name: "poll", entered: true, try: func(*spoils) error { return discard(unix.Poll(nil, 0)) }},
	}
}

// childAttempts makes all attempts in a stage, "none", "entered" or "sealed", and tells the outcome of each.
func childAttempts(args []string) error {
	s, err := newSpoils(args[1])
	if err != nil {
		return err
	}
	if err := reach(args[0]); err != nil {
		return err
	}
	outcomes := map[string]syscall.Errno{}
	goruntime.LockOSThread()
	for _, a := range attempts() {
		if a.rare && args[0] == "none" || a.allowedIn(args[0]) {
			continue
		}
		var errno syscall.Errno
		if err := a.try(s); err != nil && !errors.As(err, &errno) {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		outcomes[a.name] = errno
	}
	return tell(outcomes)
}

func (a *attempt) allowedIn(stage string) bool { return stage == "entered" && !a.entered }

// reach goes through the stages up to one.
func reach(stage string) error {
	if stage == "none" {
		return nil
	}
	layers, err := confine.Enter(confine.Profile{Memory: 1 << 30, FileSize: 1 << 20})
	if err != nil || stage == "entered" {
		return err
	}
	_, err = confine.Seal(layers)
	return err
}

func attemptIn(t *testing.T, stage string) map[string]syscall.Errno {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"old", "second"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var outcomes map[string]syscall.Errno
	child{args: []string{"attempts", stage, dir}}.run(t, &outcomes)
	return outcomes
}

func TestWhatIsRefused(t *testing.T) {
	machine(t, confine.Seccomp)
	for _, stage := range []string{"entered", "sealed"} {
		outcomes := attemptIn(t, stage)
		for _, a := range attempts() {
			if a.allowedIn(stage) {
				continue
			}
			t.Run(stage+"/"+a.name, func(t *testing.T) {
				want := a.want
				if want == 0 {
					want = unix.EPERM
				}
				got, tried := outcomes[a.name]
				if !tried || got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	}
}

// Without this, an attempt that never works would pass for a refused one.
func TestWhatIsRefusedIsNotRefusedByItself(t *testing.T) {
	for name, got := range attemptIn(t, "none") {
		if got == unix.EPERM {
			t.Errorf("%s: got %v from a process that is not confined", name, got)
		}
	}
}
