//go:build amd64 || arm64

package confine

import "golang.org/x/sys/unix"

// sealedCalls are the system calls of the second stage. None has a path as an argument, or makes memory executable.
func sealedCalls(pid int) []rule {
	return append(commonCalls(pid),
		when(unix.SYS_MMAP, without(2, unix.PROT_EXEC)),
		when(unix.SYS_MPROTECT, without(2, unix.PROT_EXEC)),
	)
}

// enteredCalls are the system calls of the first stage. They make no memory both writable and executable.
func enteredCalls(pid int) []rule {
	return append(append(commonCalls(pid), always(
		// the files of the profile
		unix.SYS_FSYNC, unix.SYS_GETCWD, unix.SYS_GETUID, unix.SYS_GETEUID,
		unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_GETDENTS64, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT,
		// files in memory, and what Go asks about them and about open sockets
		unix.SYS_MEMFD_CREATE, unix.SYS_GETSOCKOPT, unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME,
		// the second stage
		unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_RESTRICT_SELF,
	)...),
		when(unix.SYS_MMAP, without(2, unix.PROT_EXEC)),
		when(unix.SYS_MMAP, without(2, unix.PROT_WRITE)),
		when(unix.SYS_MPROTECT, without(2, unix.PROT_EXEC)),
		when(unix.SYS_MPROTECT, without(2, unix.PROT_WRITE)),
		when(unix.SYS_FCNTL, equal(1, unix.F_DUPFD_CLOEXEC)),
		when(unix.SYS_PRCTL, equal(0, unix.PR_SET_NO_NEW_PRIVS)),
		when(unix.SYS_PRCTL, equal(0, unix.PR_SET_DUMPABLE), equal(1, 0)),
		when(unix.SYS_SECCOMP, equal(0, unix.SECCOMP_SET_MODE_FILTER), equal(1, unix.SECCOMP_FILTER_FLAG_TSYNC)),
	)
}

// databaseCalls are the system calls of a process that uses SQLite. They make no memory executable.
func databaseCalls(pid int) []rule {
	rules := append(commonCalls(pid), always(
		unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_FACCESSAT, unix.SYS_READLINKAT, unix.SYS_GETCWD, unix.SYS_GETEUID,
		unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	)...)
	return append(append(rules, always(olderPathCalls...)...),
		when(unix.SYS_MMAP, without(2, unix.PROT_EXEC)),
		when(unix.SYS_MPROTECT, without(2, unix.PROT_EXEC)),
		when(unix.SYS_FCNTL, equal(1, unix.F_SETLK)),
		when(unix.SYS_FCNTL, equal(1, unix.F_GETLK)),
	)
}

const (
	// thread is the set of clone flags with which Go and C libraries start a thread.
	thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD |
		unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED
	// pagemapScan is the ioctl of /proc/self/pagemap that package snapshot uses.
	pagemapScan = 0xc0606610
	// advice is the largest advice of madvise about the caller's memory. From 100 on it controls the machine.
	advice = 31
)

// commonCalls are the system calls of both stages: those of Go's runtime, of a C library, and for open descriptors.
func commonCalls(pid int) []rule {
	rules := always(
		// memory and threads
		unix.SYS_MUNMAP, unix.SYS_BRK, unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		// clocks and random numbers
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM,
		unix.SYS_GETRUSAGE,
		// signals to itself
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
		// descriptors
		unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_LSEEK,
		unix.SYS_FSTAT, unix.SYS_FTRUNCATE, unix.SYS_CLOSE,
		unix.SYS_RECVMSG, unix.SYS_RECVFROM, unix.SYS_SENDMSG, unix.SYS_SENDTO, unix.SYS_SHUTDOWN,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
	)
	rules = append(rules,
		when(unix.SYS_CLONE, with(0, unix.CLONE_VM|unix.CLONE_THREAD), without(0, ^uint64(thread))),
		when(unix.SYS_TGKILL, equal(0, uint64(pid))), // Go's preemption
		when(unix.SYS_MADVISE, without(2, ^uint64(advice))),
		when(unix.SYS_IOCTL, equal(1, pagemapScan)),
		when(unix.SYS_PRCTL, equal(0, unix.PR_SET_VMA), equal(1, unix.PR_SET_VMA_ANON_NAME)), // Go names its memory
	)
	// Without F_SETOWN and its like, which let the kernel send signals.
	for _, command := range []uint64{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_ADD_SEALS, unix.F_GET_SEALS} {
		rules = append(rules, when(unix.SYS_FCNTL, equal(1, command)))
	}
	return rules
}
