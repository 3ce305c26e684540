//go:build cgo

package confine

/*
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// SIGNAL is a signal that no Go thread blocks, whatever was blocked when the program was started. A program that takes
// no profile ignores it.
enum { SIGNAL = SIGPROF, MAX_THREADS = 4096 };

static atomic_int ruleset, failure, threads;
static atomic_int restricted[MAX_THREADS]; // their ids; zero while one is not done
static long restrict_self;                 // the number of a system call
static struct sigaction before;

// on_signal restricts the thread that gets the signal, unless it is restricted. It runs on the signal stack that Go
// gives each thread, and calls only functions that are safe in a signal handler.
static void on_signal(int number) {
	int saved = errno;
	int id = (int)syscall(SYS_gettid);
	int known = atomic_load(&threads);
	for (int i = 0; i < known && i < MAX_THREADS; i++) {
		if (atomic_load(&restricted[i]) == id) {
			errno = saved;
			return;
		}
	}
	int at = atomic_fetch_add(&threads, 1);
	if (at >= MAX_THREADS) {
		atomic_store(&failure, EAGAIN);
	} else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(restrict_self, atomic_load(&ruleset), 0)) {
		atomic_store(&failure, errno);
	} else {
		atomic_store(&restricted[at], id);
	}
	errno = saved;
}

// begin makes the signal apply a ruleset.
static int begin(int descriptor, long call) {
	atomic_store(&ruleset, descriptor);
	atomic_store(&failure, 0);
	atomic_store(&threads, 0);
	for (int i = 0; i < MAX_THREADS; i++) {
		atomic_store(&restricted[i], 0);
	}
	restrict_self = call;
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigfillset(&action.sa_mask);
	return sigaction(SIGNAL, &action, &before);
}

// end restores the signal's action. It cannot fail after a begin that succeeded.
static void end(void) { sigaction(SIGNAL, &before, NULL); }

static int failed(void) { return atomic_load(&failure); }

static int known(void) {
	int n = atomic_load(&threads);
	return n < MAX_THREADS ? n : MAX_THREADS;
}

static int known_at(int i) { return atomic_load(&restricted[i]); }
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxThreadID is the greatest possible id, PID_MAX_LIMIT of Linux.
	maxThreadID = 1 << 22
	// firstIDs is how many ids, from the process's own on, are searched first: most threads are among them.
	firstIDs = 1 << 10
	// firstRest and longestRest bound the pause between two searches.
	firstRest, longestRest = 50 * time.Microsecond, 5 * time.Millisecond
)

// threadPatience is how long the threads of a process may take to restrict themselves. Each does when it is next
// scheduled and was found: where other processes start threads all the while, ids are far apart, and the search takes seconds.
var threadPatience = 30 * time.Second

// threadCount is the file that contains the number of threads. It stays open after the first restriction, since the
// second one cannot open files.
var threadCount = sync.OnceValues(func() (*os.File, error) { return os.Open("/proc/self/stat") })

// onEveryThread restricts all threads of this process, and those they start from then on, to a ruleset. Each thread
// restricts itself on a signal. After an error some threads may be restricted, and the process should end.
func onEveryThread(ruleset int) error {
	count, err := threadCount()
	if err != nil {
		return fmt.Errorf("below ABI %d a build with cgo needs /proc, to count its threads: mount that, or build wasmres with CGO_ENABLED=0: %w",
			abiThreads, err)
	}
	if failed, err := C.begin(C.int(ruleset), unix.SYS_LANDLOCK_RESTRICT_SELF); failed != 0 {
		return fmt.Errorf("handle a signal: %w", err)
	}
	defer C.end()
	deadline := time.Now().Add(threadPatience)
	for ids, rest := firstIDs, firstRest; ; rest = min(2*rest, longestRest) {
		unrestricted, unseen, err := sweep(count, ids)
		if errno := syscall.Errno(C.failed()); errno != 0 {
			return fmt.Errorf("landlock_restrict_self on a thread: %w", errno)
		}
		if err != nil || unrestricted == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d threads of this process did not restrict themselves within %v: build wasmres with CGO_ENABLED=0",
				unrestricted, threadPatience)
		}
		if unseen > 0 { // mostly it has ended since it was counted
			ids = min(ids+ids/4, maxThreadID)
		}
		sleep(rest)
	}
}

// sleep is more precise than time.Sleep, which is off by a millisecond.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // a signal may interrupt it
}

// sweep signals the threads that are not restricted, and returns how many those are. It searches a number of ids, from
// the process's own on, and returns how many threads it did not find there.
//
// When both are zero, all threads are and remain restricted. It has then found as many restricted threads as were
// counted, all of which restricted themselves before the count. So there were no others, and a thread that began later
// inherits the restriction. An id names one thread all the while: Linux assigns it again only after all others.
func sweep(count *os.File, ids int) (unrestricted, unseen int, err error) {
	done := restrictedThreads() // before the count
	all, err := countThreads(count)
	if err != nil {
		return 0, 0, err
	}
	unrestricted = all
	pid := os.Getpid()
	for id := range done {
		if unix.Tgkill(pid, id, 0) == nil {
			unrestricted--
		}
	}
	unseen = unrestricted
	for i := 0; i < ids && unseen > 0; i++ {
		id := (pid-1+i)%maxThreadID + 1
		if done[id] {
			continue
		}
		switch err := unix.Tgkill(pid, id, unix.Signal(C.SIGNAL)); err {
		case nil:
			unseen--
		case unix.ESRCH:
		default:
			return 0, 0, fmt.Errorf("signal thread %d: %w", id, err)
		}
	}
	return unrestricted, unseen, nil
}

// restrictedThreads returns the threads that have restricted themselves so far.
func restrictedThreads() map[int]bool {
	done := map[int]bool{}
	for i := range C.known() {
		if id := int(C.known_at(i)); id != 0 {
			done[id] = true
		}
	}
	return done
}

// countThreads reads /proc/self/stat: see proc_pid_stat(5). Its second field is a name that may contain any character.
func countThreads(stat *os.File) (int, error) {
	const name, threads = 2, 20
	text := make([]byte, 4096)
	n, err := stat.ReadAt(text, 0)
	if n == 0 {
		return 0, fmt.Errorf("count the threads: %w", err)
	}
	text = text[:n]
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < threads-name {
		return 0, fmt.Errorf("count the threads: %d fields in %s", len(fields), stat.Name())
	}
	return strconv.Atoi(string(fields[threads-name-1]))
}
