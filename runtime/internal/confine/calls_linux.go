//go:build amd64 || arm64

package confine

import "golang.org/x/sys/unix"

// sealedCalls are those of the second stage. No path is an argument of any, and nothing is executed that is not yet.
func sealedCalls(pid int) []rule {
	return append(commonCalls(pid),
		when(unix.SYS_MMAP, without(2, unix.PROT_EXEC)),
		when(unix.SYS_MPROTECT, without(2, unix.PROT_EXEC)),
	)
}

// enteredCalls are those of the first stage. Memory is never written and executed at the same time.
func enteredCalls(pid int) []rule {
	return append(append(commonCalls(pid), always(
		// the files of the profile
		unix.SYS_FSYNC, unix.SYS_GETCWD, unix.SYS_GETUID, unix.SYS_GETEUID,
		unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_GETDENTS64, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT,
		// files in memory, and what they and open sockets are made Go's with
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

// databaseCalls are those of a process that uses SQLite. Nothing is executed that is not yet.
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
	// thread is what Go and C libraries ask of clone when they want a thread.
	thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD |
		unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED
	// pagemapScan is the ioctl of /proc/self/pagemap that package snapshot uses.
	pagemapScan = 0xc0606610
	// advice is what madvise takes for the caller's own sake. From 100 on it gives orders to the machine.
	advice = 31
)

// commonCalls are those of both stages: what Go's runtime, a C library below it, and the use of what is open need.
func commonCalls(pid int) []rule {
	rules := always(
		// memory and threads
		unix.SYS_MUNMAP, unix.SYS_BRK, unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		// clocks and chance
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM,
		unix.SYS_GETRUSAGE,
		// signals of its own
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
	// Not F_SETOWN and its like, which have the kernel send signals.
	for _, command := range []uint64{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_ADD_SEALS, unix.F_GET_SEALS} {
		rules = append(rules, when(unix.SYS_FCNTL, equal(1, command)))
	}
	return rules
}
