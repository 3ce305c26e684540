//go:build cgo

package confine

/*
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// SIGNAL is one that every thread of Go's lets through, whatever was blocked when the program was started. A program that
// takes no profile ignores it.
enum { SIGNAL = SIGPROF, MAX_THREADS = 4096 };

static atomic_int ruleset, failure, threads;
static atomic_int restricted[MAX_THREADS]; // their ids; zero while one is not done
static long restrict_self;                 // the number of a system call
static struct sigaction before;

// on_signal restricts the thread that gets the signal, unless it is restricted. It runs on the signal stack that Go gives
// each thread, and calls only what a signal handler may.
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

// begin makes the signal mean a ruleset.
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

// end makes the signal mean what it did. That cannot fail where begin did not.
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
	// maxThreadID is the greatest there can be, PID_MAX_LIMIT of Linux.
	maxThreadID = 1 << 22
	// firstIDs is how many ids from the process's own on are looked at first: its threads are mostly there.
	firstIDs = 1 << 10
	// firstRest and longestRest are how long the threads that were signalled are given until they are looked at again.
	firstRest, longestRest = 50 * time.Microsecond, 5 * time.Millisecond
)

// threadPatience is how long the threads of a process may take to restrict themselves. Each does when it is next run.
var threadPatience = 10 * time.Second

// threadCount is the file that says how many threads there are. It is opened for the first restriction and stays open:
// for the second, no file can be opened any more.
var threadCount = sync.OnceValues(func() (*os.File, error) { return os.Open("/proc/self/stat") })

// onEveryThread restricts all threads of this process, and those they start from then on, to a ruleset. Each restricts
// itself, on a signal. It ends, with an error if need be: then some threads may be restricted, and the process should end.
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
		if unseen > 0 { // since it ended after it was counted, mostly
			ids = min(ids+ids/4, maxThreadID)
		}
		sleep(rest)
	}
}

// sleep takes less than Go's own, which is off by a millisecond.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // a signal may end it
}

// sweep signals the threads that are not restricted, and says how many those are. It looks for them among some ids, from
// the process's own on, and says how many threads it has not seen there.
//
// When all are restricted, that lasts. As many threads as there were when they were counted are found to live, and had
// restricted themselves before that: so they were there, and there were no others. Whatever thread began later was begun
// by one of them, and inherits. An id names one thread all the while: Linux gives it again only after all others.
func sweep(count *os.File, ids int) (unrestricted, unseen int, err error) {
	done := restrictedThreads() // before they are counted
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

// restrictedThreads are those that have restricted themselves so far.
func restrictedThreads() map[int]bool {
	done := map[int]bool{}
	for i := range C.known() {
		if id := int(C.known_at(i)); id != 0 {
			done[id] = true
		}
	}
	return done
}

// countThreads reads /proc/self/stat: see proc_pid_stat(5). The second field is a name, in which anything can be.
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
