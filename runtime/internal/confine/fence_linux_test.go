package confine_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// separate are the namespaces of a worker. /proc stays the one of the test's own pid namespace, as it does for a worker.
const separate = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWNS

// inNamespaces runs a test with children that share the namespaces of this process, and with children of their own.
func inNamespaces(t *testing.T, test func(t *testing.T, flags uintptr)) {
	t.Helper()
	t.Run("shared", func(t *testing.T) { test(t, 0) })
	t.Run("own", func(t *testing.T) {
		if testing.Short() {
			t.Skip("it does the same again in another namespace")
		}
		if exec.Command("/usr/bin/unshare", "--user", "--pid", "--fork", "/bin/true").Run() != nil {
			t.Skip("the kernel, or what this test runs in, gives no user namespace")
		}
		test(t, separate)
	})
}

// childFenced has threads of before and after each restriction try a file that the first one leaves, and one it does not.
func childFenced(args []string) error {
	outcomes := map[string][]syscall.Errno{}
	try := func(when string, all threads) {
		outcomes[when+": the file left"] = all.open(args[0])
		outcomes[when+": another file"] = all.open("/etc/passwd")
	}
	early := newThreads(8)
	layer, err := confine.RestrictFiles(args[0])
	if err != nil {
		return err
	}
	between := newThreads(8)
	try("fenced, early", early)
	try("fenced, between", between)
	if layer, err = confine.RestrictAllFiles(layer); err != nil {
		return err
	}
	try("fenced all, early", early)
	try("fenced all, between", between)
	try("fenced all, late", newThreads(8))
	if !strings.HasSuffix(layer.Detail, "no files") {
		return fmt.Errorf("got %v, want no files", layer)
	}
	return tell(outcomes)
}

func TestLandlockHoldsEveryThread(t *testing.T) {
	machine(t, confine.Landlock)
	inNamespaces(t, func(t *testing.T, flags uintptr) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var outcomes map[string][]syscall.Errno
		child{args: []string{"fenced", file}, flags: flags}.run(t, &outcomes)
		for _, when := range []string{"fenced, early", "fenced, between", "fenced all, early", "fenced all, between", "fenced all, late"} {
			var left syscall.Errno
			if strings.HasPrefix(when, "fenced all") {
				left = unix.EACCES
			}
			wantFromEach(t, outcomes, when+": the file left", left)
			wantFromEach(t, outcomes, when+": another file", unix.EACCES)
		}
	})
}

// wantFromEach compares the outcomes of 8 threads.
func wantFromEach(t *testing.T, outcomes map[string][]syscall.Errno, name string, want syscall.Errno) {
	t.Helper()
	if got := fmt.Sprint(outcomes[name]); got != fmt.Sprint([]syscall.Errno{want, want, want, want, want, want, want, want}) {
		t.Errorf("%s: got %v, want %v from each of 8", name, got, want)
	}
}

// childStatuses tells which threads have no_new_privs, which each gets together with Landlock: those of Go's runtime, on
// which no goroutine runs, too.
func childStatuses([]string) error {
	newThreads(8)
	if _, err := confine.RestrictFiles("/proc"); err != nil {
		return err
	}
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		return err
	}
	privileges := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return err
		}
		_, value, _ := strings.Cut(string(text), "NoNewPrivs:\t")
		privileges[file], _, _ = strings.Cut(value, "\n")
	}
	return tell(privileges)
}

func TestLandlockHoldsThreadsOfTheRuntime(t *testing.T) {
	machine(t, confine.Landlock)
	inNamespaces(t, func(t *testing.T, flags uintptr) {
		var privileges map[string]string
		child{args: []string{"statuses"}, flags: flags}.run(t, &privileges)
		if len(privileges) < 10 {
			t.Errorf("got %d threads, want those of 8 goroutines and more", len(privileges))
		}
		for file, value := range privileges {
			if value != "1" {
				t.Errorf("%s: got NoNewPrivs %q, want 1", file, value)
			}
		}
	})
}

// What starts wasmres may have signals blocked, which its children inherit.
func TestLandlockHoldsThreadsThatBeganWithSignalsBlocked(t *testing.T) {
	machine(t, confine.Landlock)
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	var before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, allSignals(), &before); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }() // as it was
	var privileges map[string]string
	child{args: []string{"statuses"}}.run(t, &privileges)
}

func allSignals() *unix.Sigset_t {
	var all unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	return &all
}

// childChurn starts and ends threads while it is restricted, and tells how many of them could open what was taken away.
func childChurn(args []string) error {
	var stage atomic.Int32
	var leaks atomic.Int64
	var wg sync.WaitGroup
	look := func() {
		now := stage.Load()
		if _, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0); now >= 1 && err == nil {
			leaks.Add(1)
		}
		if _, err := unix.Open(args[0], unix.O_RDONLY, 0); now >= 2 && err == nil {
			leaks.Add(1)
		}
	}
	for range 4 {
		wg.Go(func() {
			for before, after := 300, 100; after > 0; {
				switch {
				case stage.Load() == 2:
					after--
				case before > 0:
					before--
				default: // nothing is held up for ever
					time.Sleep(time.Millisecond)
					continue
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					goruntime.LockOSThread() // and ends with the goroutine
					look()
				}()
				<-done
			}
		})
	}
	layer, err := confine.RestrictFiles(args[0])
	if err != nil {
		return err
	}
	stage.Store(1)
	if _, err := confine.RestrictAllFiles(layer); err != nil {
		return err
	}
	stage.Store(2)
	wg.Wait()
	return tell(leaks.Load())
}

func TestLandlockHoldsThreadsThatBeginMeanwhile(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes that start hundreds of threads")
	}
	machine(t, confine.Landlock)
	inNamespaces(t, func(t *testing.T, flags uintptr) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			var leaks int
			child{args: []string{"churn", file}, flags: flags}.run(t, &leaks)
			if leaks != 0 {
				t.Fatalf("%d files were opened that no thread may open", leaks)
			}
		}
	})
}
