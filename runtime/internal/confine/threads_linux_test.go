package confine_test

import (
	goruntime "runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmres/wasmres/runtime/internal/confine"
)

// childThreads has threads of before the first stage, and from between the stages, try what is refused after each.
func childThreads([]string) error {
	early := newThreads(8)
	layers, err := confine.Enter(confine.Profile{Memory: 1 << 30})
	if err != nil {
		return err
	}
	outcomes := map[string][]syscall.Errno{"entered, early": early.open("/etc/passwd")}
	between := newThreads(8)
	outcomes["entered, between"] = between.open("/etc/passwd")
	if _, err := confine.Seal(layers); err != nil {
		return err
	}
	outcomes["sealed, early"] = early.open("/etc/passwd")
	outcomes["sealed, between"] = between.open("/etc/passwd")
	outcomes["sealed, late"] = newThreads(8).open("/etc/passwd")
	return tell(outcomes)
}

// threads are goroutines on threads of their own, each of which does what it is sent.
type threads []chan func()

func newThreads(n int) (all threads) {
	var there sync.WaitGroup
	there.Add(n)
	for range n {
		work := make(chan func())
		go func() { // until the process ends
			goruntime.LockOSThread()
			there.Done()
			for do := range work {
				do()
			}
		}()
		all = append(all, work)
	}
	there.Wait()
	return all
}

// open has each thread open a file.
func (all threads) open(path string) []syscall.Errno {
	outcomes := make([]syscall.Errno, len(all))
	var wg sync.WaitGroup
	for i, work := range all {
		wg.Add(1)
		work <- func() {
			defer wg.Done()
			_, err := unix.Open(path, unix.O_RDONLY, 0)
			outcomes[i], _ = err.(syscall.Errno)
		}
	}
	wg.Wait()
	return outcomes
}

func TestEveryThreadIsConfined(t *testing.T) {
	machine(t, confine.Landlock, confine.Seccomp)
	inNamespaces(t, func(t *testing.T, flags uintptr) {
		var outcomes map[string][]syscall.Errno
		child{args: []string{"threads"}, flags: flags}.run(t, &outcomes)
		for name, want := range map[string]syscall.Errno{
			"entered, early": unix.EACCES, "entered, between": unix.EACCES,
			"sealed, early": unix.EPERM, "sealed, between": unix.EPERM, "sealed, late": unix.EPERM,
		} {
			wantFromEach(t, outcomes, name, want)
		}
	})
}
